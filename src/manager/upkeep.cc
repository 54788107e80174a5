// Recording what ended, and forgetting what nobody needs.
#include "engine/sweep.h"
#include "manager/logging.h"
#include "manager/run.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSweepBatch = 1'000;
constexpr std::size_t kDeadBatch = 200;  // As many as one request of etcd's takes.
constexpr Duration kKeepEnded = 1h;

// What a cleanup by the way may cost the one who does it, and how many are swept at once then.
constexpr Duration kCleanupTime = 100ms;
constexpr std::size_t kCleanupBatch = 200;

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
    const auto swept = sweep_these(take_some(*found, kDeadBatch));
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

Result<bool> LeaseManager::forget_some(Duration history_life, Swept& total) {
  const auto forgotten =
      change<std::size_t>({.workspace = workspace_, .gives_back = true}, nullptr,
                          [&](Transaction& transaction, const Context&) -> Result<std::size_t> {
                            return transaction.forget(transaction.now() - kKeepEnded,
                                                      transaction.wall() - history_life, kSweepBatch);
                          });
  if (!forgotten) return fail(forgotten.error());
  total.forgotten += *forgotten;
  return *forgotten >= kSweepBatch;
}

Result<Swept> LeaseManager::cleanup() {
  Result<Swept> total = sweep(true);
  for (bool more = true; total && more;) {
    const auto step = forget_some(policy()->history_life, *total);
    if (!step) return fail(step.error());
    more = *step;
  }
  return total;
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
    more = forget_some(policy->history_life, swept).value_or(false);
  } while (more && std::chrono::steady_clock::now() < end);
}

}  // namespace leasehold
