#include "engine/turn.h"

#include <algorithm>

#include "engine/ledger.h"
#include "engine/live.h"
#include "engine/validate.h"

namespace leasehold {
namespace {

// Something that the owner started and that goes on by itself holds it, such as lease run: whatever becomes
// of the turn, that one works.
bool has_holder_of_its_own(const Lease& lease, const Holder& agent, const Context& context) {
  return !lease.attended && lease.holder.process && lease.holder.process != agent.process &&
         liveness_of(lease.holder.process, context) == Liveness::alive;
}

template <class Change>
Result<std::size_t> change_live_leases(Transaction& transaction, const Context& context, const Holder& agent,
                                       const Change& change) {
  if (auto checked = check_holder(agent); !checked) return fail(checked.error());
  const Owner& owner = agent.owner;
  Ledger ledger(transaction, context);
  std::size_t changed = 0;
  for (Lease& lease : transaction.leases({.agent_id = owner.agent_id, .session_id = owner.session_id})) {
    // What is over stays over, also for an owner that comes back.
    if (lapse(lease, transaction.now(), context) != EndCause::none) continue;
    if (has_holder_of_its_own(lease, agent, context)) continue;
    change(lease);
    ledger.amend(lease);
    ++changed;
  }
  return changed;
}

}  // namespace

Result<std::size_t> turn_started(Transaction& transaction, const Context& context, const Holder& holder) {
  return change_live_leases(transaction, context, holder, [&](Lease& lease) {
    succeed_process(lease, holder, true, context);
    lease.attended = true;
    lease.last_heartbeat_at = transaction.now();
    if (!lease.idle_at) return;
    lease.idle_at.reset();
    // A renewal in between reached only as far as the idle time.
    lease.expires_at = std::max(lease.expires_at, end_of_term(lease, transaction.now()));
  });
}

Result<std::size_t> turn_stopped(Transaction& transaction, const Context& context, const Holder& holder) {
  return change_live_leases(transaction, context, holder, [&](Lease& lease) {
    lease.attended = false;
    if (!lease.idle_at) lease.idle_at = transaction.now() + context.policy.idle_grace;
    // One that lived by attendance alone has the grace too.
    lease.expires_at = std::max(lease.expires_at, *lease.idle_at);
  });
}

}  // namespace leasehold
