// What the store keeps for all processes: settings, and when it was last cleaned up.
#include "config/settings.h"

#include <algorithm>

#include "engine/validate.h"
#include "manager/run.h"
#include "util/number.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// So soon a change of the stored settings is noticed by those who run.
constexpr Duration kSettingsLife = 5s;

// Kept with the settings, where every process finds it without another read.
constexpr const char* kLastCleanup = "last_cleanup_at";

// Very long if there was none, or if the wall clock was set back so that it says nothing.
Duration time_since_cleanup(const std::vector<Setting>& stored, WallTime wall) {
  constexpr Duration kNever = 24h * 365;
  const auto row = std::ranges::find(stored, kLastCleanup, &Setting::key);
  if (row == stored.end()) return kNever;
  const auto seconds = parse_number<std::int64_t>(row->value);
  if (!seconds) return kNever;
  const auto now = std::chrono::floor<std::chrono::seconds>(wall).time_since_epoch().count();
  return *seconds > now || now - *seconds > 365 * 86'400 ? kNever : std::chrono::seconds(now - *seconds);
}

}  // namespace

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
  const bool is_noted = std::ranges::find(stored, kHistoryLeftOut, &Setting::key) != stored.end();
  auto policy = std::make_shared<const Policy>(options_.configuration->policy(std::move(stored)));
  leaves_out_history_ = !policy->keep_history && !is_noted;
  const std::lock_guard lock(policy_mutex_);
  const auto now = std::chrono::steady_clock::now();
  next_cleanup_ = now + std::max(Duration::zero(), policy->cleanup_interval - since_cleanup);
  policy_until_ = now + kSettingsLife;
  settings_known_ = true;
  policy_ = std::move(policy);
}

// Else nobody could tell afterwards whether what is missing was ever there.
void LeaseManager::note_left_out_history(Transaction& transaction) {
  if (!leaves_out_history_) return;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(transaction.wall()).time_since_epoch();
  transaction.put(Setting{.key = kHistoryLeftOut,
                          .value = std::to_string(seconds.count()),
                          .type = "int",
                          .description = "Since when some of history may be missing (Unix time)"});
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
