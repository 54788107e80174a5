#include "engine/ledger.h"

#include <algorithm>
#include <tuple>

#include "engine/explain.h"
#include "engine/live.h"
#include "engine/sessions.h"
#include "util/check.h"

namespace leasehold {
namespace {

// A lease ends as `released` when somebody decided so, as `expired` when it ran out.
Status status_after(EndCause cause) {
  switch (cause) {
    case EndCause::released:
    case EndCause::forced:
    case EndCause::transferred:
      return Status::released;
    default:
      return Status::expired;
  }
}

}  // namespace

Event Ledger::event_of(const Lease& lease, EventType type) const {
  return {.type = type,
          .lease_id = lease.id,
          .group_id = lease.group_id,
          .owner = lease.holder.owner,
          .pr_id = lease.holder.pr_id,
          .path = lease.path,
          .subtree = lease.subtree,
          .mode = lease.mode,
          .token = lease.token,
          .status_before = lease.status,
          .status_after = lease.status,
          .cause = lease.ended_by,
          .renewal_count = lease.renewal_count,
          .at = transaction_.now(),
          .wall = transaction_.wall(),
          .trace = lease.trace};
}

void Ledger::write(Lease& lease, EventType type, std::optional<Status> before, const Because& because) {
  lease.updated_at = now();
  Event event = event_of(lease, type);
  event.status_before = before;
  event.actor = because.actor;
  event.reason = because.reason;
  transaction_.put(lease);
  append(std::move(event));
  remember(transaction_, context_.policy, lease);
}

void Ledger::activate(Lease& lease, const std::string& reason) {
  const bool waited = lease.status == Status::pending;
  lease.status = Status::active;
  lease.acquired_at = lease.last_heartbeat_at = now();
  lease.expires_at = end_of_term(lease, now());
  write(lease, EventType::acquired, waited ? std::optional(Status::pending) : std::nullopt, {{}, reason});
}

Lease Ledger::draft(const std::string& workspace, const AcquireRequest& request, const WantedPath& wanted,
                    const GroupId& group) const {
  return {.id = LeaseId{make_uuid(context_.random, transaction_.wall())},
          .workspace = workspace,
          .path = wanted.path,
          .subtree = wanted.subtree,
          .mode = request.mode,
          .holder = request.caller.holder,
          .created_at = now(),
          .last_heartbeat_at = now(),
          .ttl = *request.ttl,
          .max_renewals = *request.max_renewals,
          .group_id = group,
          .room = request.room,
          .reason = request.reason,
          .trace = request.trace,
          .requested = wanted.requested,
          .paired_with = wanted.paired_with,
          .rule = wanted.rule};
}

void Ledger::enqueue(Ticket& ticket) {
  for (const WantedPath& wanted : ticket.request->paths) {
    Lease lease = draft(ticket.workspace, ticket.request, wanted, ticket.id);
    lease.status = Status::pending;
    lease.expires_at = ticket.wait_until;
    write(lease, EventType::queued, std::nullopt, {{}, ticket.request->reason});
    ticket.leases.push_back(lease.id);
  }
  transaction_.put(ticket);
}

void Ledger::extend(Lease& lease, const std::string& reason) {
  write(lease, EventType::renewed, Status::active, {{}, reason});
}

void Ledger::extend_all(const Owner& owner, const std::vector<Lease*>& leases) {
  if (leases.empty()) return;
  for (Lease* lease : leases) {
    lease->updated_at = now();
    transaction_.extend(*lease);
  }
  append({.type = EventType::renewed,
          .owner = owner,
          .status_before = Status::active,
          .status_after = Status::active,
          .count = leases.size(),
          .at = now(),
          .wall = transaction_.wall(),
          .reason = "all leases of the owner"});
}

void Ledger::refuse_renewal(const Lease& lease, const std::string& reason) {
  Event event = event_of(lease, EventType::failed);
  event.reason = reason;
  append(std::move(event));
}

void Ledger::amend(Lease& lease) {
  lease.updated_at = now();
  transaction_.put(lease);
}

void Ledger::change_mode(Lease& lease, Mode mode, const Because& because) {
  LEASEHOLD_CHECK(lease.mode != mode);
  // Weaker, it lets others go; stronger, what else its owner waits for there.
  freed_.push_back(lease.scope());
  if (mode == Mode::shared) losers_.insert(lease.holder.owner);
  lease.mode = mode;
  write(lease, mode == Mode::shared ? EventType::downgraded : EventType::upgraded, Status::active, because);
}

void Ledger::recall(Lease& lease, Time deadline, const Because& because) {
  lease.recalled_at =
      std::min(deadline, lease.recalled_at.value_or(kForever));  // Asked twice: the first word counts.
  lease.expires_at = std::min(lease.expires_at, *lease.recalled_at);
  write(lease, EventType::recalled, Status::active, because);
  notify(lease, EndCause::recalled, false, because);
}

void Ledger::receive(Lease& lease, const Because& because) {
  activate(lease, because.reason);
  notify(lease, EndCause::transferred, true, because);
}

void Ledger::receive_more(Lease& held, Mode mode, const Because& because) {
  if (held.mode != mode) {
    change_mode(held, mode, because);
  } else {
    write(held, EventType::renewed, Status::active, because);
  }
  notify(held, EndCause::transferred, true, because);
}

void Ledger::end(Lease lease, EndCause cause, const Because& because) {
  LEASEHOLD_CHECK(lease.status == Status::active);
  lease.status = status_after(cause);
  lease.ended_by = cause;
  const bool ran_out = lease.status == Status::expired;
  Because recorded = because;
  if (recorded.reason.empty() && cause != EndCause::released) recorded.reason = describe(cause);
  write(lease, ran_out ? EventType::expired : EventType::released, Status::active, recorded);
  const bool own_doing =
      recorded.actor.empty() && (cause == EndCause::released || cause == EndCause::transferred);
  if (!own_doing) notify(lease, cause, false, recorded);
  freed_.push_back(lease.scope());
  losers_.insert(lease.holder.owner);
}

void Ledger::fail(Ticket ticket, EndCause cause, const Because& because) {
  LEASEHOLD_CHECK(ticket.status == Status::pending);
  for (const LeaseId& id : ticket.leases) {
    std::optional<Lease> lease = transaction_.lease(id);
    // A store that was damaged may show a wait that is over.
    if (!lease || lease->status != Status::pending) continue;
    lease->status = Status::failed;
    lease->ended_by = cause;
    write(*lease, EventType::failed, Status::pending,
          {because.actor, because.reason.empty() ? describe(cause) : because.reason});
  }
  ticket.status = Status::failed;
  ticket.ended_by = cause;
  ticket.ended_at = now();
  transaction_.put(ticket);
  free(ticket.request);
}

void Ledger::free(const AcquireRequest& request) {
  for (const WantedPath& wanted : request.paths) freed_.push_back(wanted.scope());
}

void Ledger::prove_life(Lease& lease) {
  lease.expires_at = attendance_end(lease, now(), context_.policy);
  extend(lease, "proof_of_life");
}

void Ledger::prove_life(Ticket& ticket) {
  ticket.proven_until = now() + context_.policy.waiter_silence;
  transaction_.put(ticket);
}

void Ledger::adopt(Ticket& ticket, const Holder& holder, const std::optional<Process>& waiter) {
  const auto hand_to = [&](Holder& before) {
    before.process = holder.process;
    before.host = holder.host;
  };
  AcquireRequest& request = ticket.request.own();
  hand_to(request.caller.holder);
  request.waiter = waiter;
  for (const LeaseId& id : ticket.leases) {
    std::optional<Lease> lease = transaction_.lease(id);
    if (!lease) continue;
    hand_to(lease->holder);
    amend(*lease);
  }
  prove_life(ticket);
}

void Ledger::grant(Ticket ticket, std::vector<LeaseId> leases, Token token) {
  ticket.status = Status::active;
  ticket.ended_at = now();
  ticket.leases = std::move(leases);
  ticket.token = token;
  transaction_.put(ticket);
  transaction_.ring(ticket.id);
  granted_.push_back(std::move(ticket));
}

void Ledger::drop_pending(Lease lease) {
  lease.status = Status::failed;
  lease.ended_by = EndCause::merged;
  write(lease, EventType::failed, Status::pending, {{}, describe(EndCause::merged)});
}

void Ledger::append(Event event) {
  if (context_.policy.keep_history) transaction_.append(std::move(event));
}

// When it was over: somebody may look only long after that. What is asked back will be.
Time Ledger::moment_of(const Lease& lease, EndCause cause) const {
  if (cause == EndCause::recalled && lease.recalled_at) return *lease.recalled_at;
  if (cause == EndCause::expired) return std::min(lease.expires_at, now());
  if (cause == EndCause::idle && lease.idle_at) return std::min(*lease.idle_at, now());
  return now();
}

void Ledger::notify(const Lease& lease, EndCause cause, bool received, const Because& because) {
  const Time at = moment_of(lease, cause);
  transaction_.put(Notice{.id = make_uuid(context_.random, transaction_.wall()),
                          .owner = lease.holder.owner,
                          .cause = cause,
                          .received = received,
                          .lease_id = lease.id,
                          .path = lease.path,
                          .subtree = lease.subtree,
                          .token = lease.token,
                          .actor = because.actor,
                          .reason = because.reason,
                          .at = at,
                          .wall = wall_time(at, now(), transaction_.wall()),
                          .drop_at = now() + context_.policy.notice_life});
}

void succeed_process(Lease& lease, const Holder& caller, bool attended, const Context& context) {
  const bool is_free =
      lease.holder.process ? liveness_of(lease.holder.process, context) != Liveness::alive : attended;
  if (is_free) take_process(lease.holder, caller);
}

void take_process(Holder& holder, const Holder& caller) {
  if (holder.owner != caller.owner || !caller.process) return;
  holder.process = caller.process;
  holder.host = caller.host;
}

namespace {

// Those that are worth telling, in the order they are told.
std::vector<Notice> in_order(std::vector<Notice> notices, Time now) {
  std::erase_if(notices, [&](const Notice& notice) { return notice.drop_at <= now; });
  // What happened at one moment has no order of its own; by path it reads the same each time. Of a recall,
  // who asked stands before that it came to an end, which is no news then.
  std::ranges::sort(notices, {}, [](const Notice& notice) {
    return std::tuple(notice.at, notice.path, notice.lease_id, notice.actor.empty());
  });
  const auto is_same_recall = [](const Notice& one, const Notice& next) {
    return one.lease_id == next.lease_id && one.cause == EndCause::recalled && next.cause == one.cause &&
           next.actor.empty();
  };
  const auto repeated = std::ranges::unique(notices, is_same_recall);
  notices.erase(repeated.begin(), repeated.end());
  return notices;
}

}  // namespace

std::vector<Notice> show_notices(View& view, const Owner& owner,
                                 const std::function<bool(const Notice&)>& is_meant) {
  std::vector<Notice> notices = view.notices(owner);
  if (is_meant) std::erase_if(notices, [&](const Notice& notice) { return !is_meant(notice); });
  return in_order(std::move(notices), view.now());
}

std::vector<Notice> take_notices(Transaction& transaction, const Owner& owner,
                                 const std::function<bool(const Notice&)>& is_meant) {
  std::vector<Notice> notices = transaction.notices(owner);
  if (is_meant) std::erase_if(notices, [&](const Notice& notice) { return !is_meant(notice); });
  for (const Notice& notice : notices) transaction.erase(notice);
  return in_order(std::move(notices), transaction.now());
}

}  // namespace leasehold
