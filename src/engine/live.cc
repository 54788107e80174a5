#include "engine/live.h"

#include <algorithm>

namespace leasehold {

Liveness liveness_of(const std::optional<Process>& process, const Context& context) {
  return process ? context.verdicts.of(*process).liveness : Liveness::unknown;
}

bool is_seen_to_wait(const Ticket& ticket, const Context& context) {
  const std::optional<Process>& process = process_of(ticket);
  if (!process) return false;
  const Verdict& verdict = context.verdicts.of(*process);
  return verdict.liveness == Liveness::alive && !verdict.is_stopped;
}

Verdict verdict_on(const Holder& holder, const Context& context) {
  if (!holder.process) return {Liveness::unknown, "no process to watch; only its time counts"};
  return context.verdicts.of(*holder.process);
}

const std::optional<Process>& process_of(const Ticket& ticket) {
  return ticket.request->waiter ? ticket.request->waiter : ticket.request->caller.holder.process;
}

EndCause lapse(const Lease& lease, Time now, const Context& context) {
  if (lease.recalled_at && now >= *lease.recalled_at) return EndCause::recalled;
  if (lease.idle_at && now >= *lease.idle_at) return EndCause::idle;
  const Liveness liveness = liveness_of(lease.holder.process, context);
  if (liveness == Liveness::dead) return EndCause::owner_dead;
  if (now < lease.expires_at) return EndCause::none;
  // Nobody has seen its owner since it was granted: then that one's process says nothing.
  if (!lease.attended || liveness != Liveness::alive || awaits_its_owner(lease)) return EndCause::expired;
  return now < lease.last_heartbeat_at + context.policy.silence_max ? EndCause::none : EndCause::silent;
}

EndCause lapse(const Ticket& ticket, Time now, const Context& context) {
  if (now >= ticket.wait_until) return EndCause::timed_out;
  if (liveness_of(process_of(ticket), context) == Liveness::dead) return EndCause::owner_dead;
  const bool proven = is_seen_to_wait(ticket, context) || now < ticket.proven_until;
  return proven ? EndCause::none : EndCause::silent;
}

Time end_of_term(Duration ttl, Time now) {
  // One that ends later than can be told has no end.
  return ttl < std::chrono::floor<Duration>(kForever - now) ? Time(now + ttl) : kForever;
}

Time end_of_term(const Lease& lease, Time now) {
  return std::min(
      {end_of_term(lease.ttl, now), lease.recalled_at.value_or(kForever), lease.idle_at.value_or(kForever)});
}

Time end_as_it_stands(const Lease& lease) {
  return std::min({lease.expires_at, lease.recalled_at.value_or(kForever), lease.idle_at.value_or(kForever)});
}

bool awaits_its_owner(const Lease& lease) { return lease.expires_at < end_of_term(lease, lease.acquired_at); }

bool lives_by_attendance(const Lease& lease, Time now) { return now >= lease.expires_at; }

Time attendance_end(const Lease& lease, Time now, const Policy& policy) {
  return std::min<Time>(end_of_term(lease, now), lease.last_heartbeat_at + policy.silence_max);
}

}  // namespace leasehold
