// Recording what ended, forgetting what nobody needs, and the configuration the store keeps.
#include <algorithm>
#include <charconv>

#include "engine/sweep.h"
#include "engine/validate.h"
#include "manager/logging.h"
#include "manager/run.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSweepBatch = 1'000;
constexpr Duration kKeepEnded = 1h;

// What a cleanup by the way may cost the one who does it, and how many are swept at once then.
constexpr Duration kCleanupTime = 100ms;
constexpr std::size_t kCleanupBatch = 200;

// So soon a change of the stored settings is noticed by those who run.
constexpr Duration kSettingsLife = 5s;

// Kept with the settings, where every process finds it without another read.
constexpr const char* kLastCleanup = "last_cleanup_at";

// Very long if there was none, or if the wall clock was set back so that it says nothing.
Duration time_since_cleanup(const std::vector<Setting>& stored, WallTime wall) {
  constexpr Duration kNever = 24h * 365;
  const auto row = std::ranges::find(stored, kLastCleanup, &Setting::key);
  std::int64_t seconds = 0;
  if (row == stored.end()) return kNever;
  const char* end = row->value.data() + row->value.size();
  if (std::from_chars(row->value.data(), end, seconds).ptr != end) return kNever;
  const auto now = std::chrono::floor<std::chrono::seconds>(wall).time_since_epoch().count();
  return seconds > now || now - seconds > 365 * 86'400 ? kNever : std::chrono::seconds(now - seconds);
}

}  // namespace

Result<bool> LeaseManager::sweep_some(std::size_t limit, Swept& total) {
  const auto step =
      change<SweepStep>({.workspace = workspace_, .gives_back = true}, nullptr,
                        [&](Transaction& transaction, const Context& context) -> Result<SweepStep> {
                          return leasehold::sweep(transaction, context, limit);
                        });
  if (!step) return fail(step.error());
  total.ended += step->swept.ended;
  total.dropped += step->swept.dropped;
  return step->more;
}

Result<Swept> LeaseManager::sweep(bool dead_owners) {
  Swept total;
  for (bool more = true; more;) {
    const auto step = sweep_some(kSweepBatch, total);
    if (!step) return fail(step.error());
    more = *step;
  }
  if (dead_owners) {
    if (const auto dead = sweep_dead(total); !dead) return fail(dead.error());
  }
  log_swept(options_.log, total);
  return total;
}

// Looks at everything without being in anybody's way, and writes in small steps.
Result<void> LeaseManager::sweep_dead(Swept& total) {
  auto found = suspects({});
  if (!found) return fail(found.error());
  while (!found->empty()) {
    const auto swept = sweep_these(take_some(*found, kSweepBatch));
    if (!swept) return fail(swept.error());
    total.ended += swept->ended;
    total.dropped += swept->dropped;
  }
  return {};
}

Result<Suspects> LeaseManager::suspects(const std::set<Owner>& owners) {
  return look<Suspects>({.workspace = workspace_},
                        [&](View& view, const Context& context) -> Result<Suspects> {
                          return find_dead(view, context, owners);
                        });
}

Result<Swept> LeaseManager::sweep_these(const Suspects& some) {
  return change<Swept>(
      {.workspace = workspace_, .leases = some.leases, .tickets = some.tickets, .gives_back = true}, nullptr,
      [&](Transaction& transaction, const Context& context) -> Result<Swept> {
        return leasehold::sweep(transaction, context, some);
      });
}

Result<Swept> LeaseManager::reclaim(const Suspects& some) {
  auto swept = sweep_these(some);
  if (swept) log_swept(options_.log, *swept);
  return swept;
}

Result<std::size_t> LeaseManager::forget(Duration history_life) {
  return change<std::size_t>({.workspace = workspace_, .gives_back = true}, nullptr,
                             [&](Transaction& transaction, const Context&) -> Result<std::size_t> {
                               return transaction.forget(transaction.now() - kKeepEnded,
                                                         transaction.wall() - history_life, kSweepBatch);
                             });
}

Result<Swept> LeaseManager::cleanup() {
  Result<Swept> total = sweep(true);
  for (bool more = true; total && more;) {
    const auto forgotten = forget(policy()->history_life);
    if (!forgotten) return fail(forgotten.error());
    total->forgotten += *forgotten;
    more = *forgotten >= kSweepBatch;
  }
  return total;
}

Result<std::vector<Setting>> LeaseManager::settings() {
  return look<std::vector<Setting>>(
      {.workspace = workspace_},
      [](View& view, const Context&) -> Result<std::vector<Setting>> { return view.settings(); });
}

Result<void> LeaseManager::put_setting(const Setting& setting) {
  const auto checked = check_setting(setting);
  if (!checked) return fail(checked.error());
  auto done = store_.transact({.workspace = workspace_}, [&](Transaction& transaction) -> Result<void> {
    transaction.put(*checked);
    return {};
  });
  load_settings();
  return done;
}

Result<void> LeaseManager::erase_setting(const std::string& stored_key) {
  if (auto checked = check_texts({{"key", stored_key}}); !checked) return checked;
  auto done = store_.transact({.workspace = workspace_}, [&](Transaction& transaction) -> Result<void> {
    transaction.erase_setting(stored_key);
    return {};
  });
  load_settings();
  return done;
}

std::shared_ptr<const Policy> LeaseManager::policy() {
  {
    const std::lock_guard lock(policy_mutex_);
    if (!options_.configuration || std::chrono::steady_clock::now() < policy_until_) return policy_;
    // One thread looks; the others go on with what is known. At first nothing is.
    if (settings_known_) policy_until_ = std::chrono::steady_clock::now() + kSettingsLife;
  }
  load_settings();
  const std::lock_guard lock(policy_mutex_);
  return policy_;
}

void LeaseManager::load_settings() {
  if (!options_.configuration) return;
  std::vector<Setting> stored;
  WallTime wall;
  const auto read = store_.view({.workspace = workspace_}, [&](View& view) -> Result<void> {
    stored = view.settings();
    wall = view.wall();
    return {};
  });
  // Whoever needs the store will hear that it is not there; what was known before still holds.
  if (!read) return;
  const Duration since_cleanup = time_since_cleanup(stored, wall);
  auto policy = std::make_shared<const Policy>(options_.configuration->policy(std::move(stored)));
  const std::lock_guard lock(policy_mutex_);
  const auto now = std::chrono::steady_clock::now();
  next_cleanup_ = now + std::max(Duration::zero(), policy->cleanup_interval - since_cleanup);
  policy_until_ = now + kSettingsLife;
  settings_known_ = true;
  policy_ = std::move(policy);
}

// Whoever acquires when it is time, in whichever process, does it for all.
void LeaseManager::clean_up_if_due() {
  if (!options_.configuration || !options_.cleans_up) return;
  std::shared_ptr<const Policy> policy;
  {
    const std::lock_guard lock(policy_mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (!policy_->auto_expire || now < next_cleanup_) return;
    next_cleanup_ = now + policy_->cleanup_interval;
    policy = policy_;
  }
  const auto claimed = claim_cleanup(*policy);
  // What goes wrong here is nobody's business: the next one tries again.
  if (!claimed || !*claimed) return;
  // More than one batch, or what comes in would outgrow it; but the caller waits for this.
  const auto end = std::chrono::steady_clock::now() + kCleanupTime;
  Swept swept;
  for (bool more = true; more && std::chrono::steady_clock::now() < end;) {
    more = sweep_some(kCleanupBatch, swept).value_or(false);
  }
  log_swept(options_.log, swept);
  bool more = true;
  do {
    more = forget(policy->history_life).value_or(0) >= kSweepBatch;
  } while (more && std::chrono::steady_clock::now() < end);
}

// False: somebody else did it meanwhile.
Result<bool> LeaseManager::claim_cleanup(const Policy& policy) {
  return change<bool>(
      {.workspace = workspace_, .gives_back = true}, nullptr,
      [&](Transaction& transaction, const Context&) -> Result<bool> {
        const auto since = time_since_cleanup(transaction.settings(), transaction.wall());
        if (since < policy.cleanup_interval) return false;
        const auto seconds = std::chrono::floor<std::chrono::seconds>(transaction.wall()).time_since_epoch();
        transaction.put(Setting{.key = kLastCleanup,
                                .value = std::to_string(seconds.count()),
                                .type = "int",
                                .description = "When what ended was last cleaned up by the way (Unix time)"});
        return true;
      });
}

}  // namespace leasehold
