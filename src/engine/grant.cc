#include "engine/grant.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/contention.h"
#include "engine/deadlock.h"
#include "engine/grant_token.h"
#include "engine/idempotency.h"
#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/records_at.h"
#include "util/check.h"
#include "util/unique.h"

namespace leasehold {
namespace {

// The caller holds this path; `wanted` adds to it.
Lease give_again(Ledger& ledger, const AcquireRequest& request, const WantedPath& wanted,
                 const std::vector<std::string>& pairs, Lease lease, GrantToken& token) {
  const Time now = ledger.now();
  lease.requested |= wanted.requested;
  add_missing(lease.pairs, pairs);
  add_missing(lease.paired_with, wanted.paired_with);
  if (lease.rule.empty()) lease.rule = wanted.rule;
  succeed_process(lease, request.caller.holder, request.attended, ledger.context());
  lease.attended |= request.attended;
  const bool was_cut_short = lease.idle_at || awaits_its_owner(lease);
  lease.idle_at.reset();
  lease.last_heartbeat_at = now;
  if (was_cut_short) lease.expires_at = std::max(lease.expires_at, end_of_term(lease, now));
  if (end_of_term(*request.ttl, now) > lease.expires_at) {
    lease.ttl = *request.ttl;
    lease.expires_at = end_of_term(lease, now);
  }
  if (request.mode == Mode::exclusive && lease.mode == Mode::shared) {
    lease.token = token.get();
    ledger.change_mode(lease, Mode::exclusive);
  } else {
    ledger.extend(lease, "acquired again");
  }
  return lease;
}

Lease give_new(Ledger& ledger, const std::string& workspace, const AcquireRequest& request,
               const WantedPath& wanted, const std::vector<std::string>& pairs, const GroupId& group,
               std::optional<Lease> pending, GrantToken& token) {
  Lease lease = pending ? std::move(*pending) : ledger.draft(workspace, request, wanted, group);
  lease.pairs = pairs;
  lease.attended = request.attended;
  lease.token = token.get();
  ledger.activate(lease, request.reason);
  return lease;
}

// Which paths pairing added for each source, so that releasing the source finds them.
std::map<std::string, std::vector<std::string>> pairs_by_source(const AcquireRequest& request) {
  std::map<std::string, std::vector<std::string>> pairs;
  for (const WantedPath& wanted : request.paths) {
    for (const std::string& source : wanted.paired_with) add_unique(pairs[source], wanted.path);
  }
  return pairs;
}

std::map<Scope, Lease> pending_leases(Transaction& transaction, const Ticket* waited) {
  std::map<Scope, Lease> pending;
  if (waited == nullptr) return pending;
  for (const LeaseId& id : waited->leases) {
    std::optional<Lease> lease = transaction.lease(id);
    if (lease) pending.emplace(lease->scope(), std::move(*lease));
  }
  return pending;
}

std::set<Owner> holders_at(Transaction& transaction, const std::vector<Scope>& scopes) {
  std::set<Owner> holders;
  for (const Lease& lease : leases_at(transaction, scopes)) holders.insert(lease.holder.owner);
  return holders;
}

// True if the ticket's owner surely holds none of what it waits for. (What it holds it does not queue
// for.) Several paths may reach beyond where `holders` were looked for.
bool holds_nothing(const Ticket& ticket, const std::set<Owner>& holders) {
  if (ticket.request->paths.size() > 1) return false;
  return std::ranges::none_of(holders,
                              [&](const Owner& owner) { return owns(ticket.request->caller, owner); });
}

bool still_waits(Ledger& ledger, const Ticket& ticket) {
  const std::optional<Ticket> current = ledger.transaction().ticket(ticket.id);
  return current && current->status == Status::pending;
}

// Its process may have died after its last word, and would keep the path from everybody for a whole TTL. What
// it held before stays as it is.
void shorten(Ledger& ledger, const Survey& before, const std::vector<Lease>& given) {
  const Time until = ledger.now() + ledger.context().policy.waiter_silence;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::optional<Lease>& own = before.places[i].own;
    if ((own && !awaits_its_owner(*own)) || given[i].expires_at <= until) continue;
    Lease lease = given[i];
    lease.expires_at = until;
    ledger.amend(lease);
  }
}

// One who acts for a whole session passes all that wait in it, and may have made another's lease stronger.
// Whoever has what they wait for must not wait for them.
void fail_deadlocked_holders(Ledger& ledger, const Caller& caller, const std::vector<Lease>& given) {
  if (!caller.whole_session) return;
  std::set<Owner> holders = {caller.holder.owner};
  for (const Lease& lease : given) holders.insert(lease.holder.owner);
  for (const Owner& owner : holders) fail_deadlocked_waits(ledger, owner);
}

// It made something stronger that was held.
bool has_raised(const Survey& before, const AcquireRequest& request) {
  return request.mode == Mode::exclusive &&
         std::ranges::any_of(before.places, [](const Survey::Place& place) {
           return place.own && place.own->mode == Mode::shared;
         });
}

enum class Tried {
  granted,
  waits_on,    // Somebody is in its way.
  look_again,  // Something was found to be over: whoever is ahead goes first, by that.
};

// Grants the ticket if nothing is in its way.
Tried try_waiter(Ledger& ledger, const Ticket& ticket, const Survey& found) {
  record(ledger, found);
  if (!found.lapsed_leases.empty() || !found.lapsed_tickets.empty()) return Tried::look_again;
  if (!found.blocked.empty() || ledger.context().withholds) return Tried::waits_on;
  const Given given = give(ledger, ticket.workspace, ticket.request, ticket.id, found, &ticket);
  if (!is_seen_to_wait(ticket, ledger.context())) shorten(ledger, found, given.leases);
  std::vector<LeaseId> ids;
  for (const Lease& lease : given.leases) ids.push_back(lease.id);
  remember_grant(ledger.transaction(), ticket.request, ids);
  ledger.grant(ticket, std::move(ids), given.token);
  fail_deadlocked_holders(ledger, ticket.request->caller, given.leases);
  // Only seen and not heard of, it may not have counted for a while, and passes those who came meanwhile.
  if (ledger.now() >= ticket.proven_until) fail_deadlocked_waits(ledger, ticket.request->caller.holder.owner);
  return Tried::granted;
}

// Most often one path is free, and the first of those who wait for it wants it for himself. Whether he gets
// it or not, everybody else waits for him, whatever they want. So nobody need read that, and a long line
// costs little more than a short one. False: it is not so.
bool settle_simply(Ledger& ledger, const std::vector<Scope>& freed) {
  const Scope& scope = freed.front();
  if (scope.subtree || std::ranges::count(freed, scope) != std::ssize(freed)) return false;
  Transaction& transaction = ledger.transaction();
  const std::vector<InLine> line = transaction.line_at(scope.path);
  if (line.empty()) return true;
  const InLine& first =
      *std::ranges::min_element(line, before, [](const InLine& waiter) { return rank_of(waiter); });
  const std::set<Owner> holders = holders_at(transaction, {scope});
  const auto matters = [&](const InLine& waiter) {
    if (waiter.upgrade || ledger.took_from(waiter)) return true;
    if (&waiter != &first && (owns(waiter, first.owner) || owns(first, waiter.owner))) return true;
    return std::ranges::any_of(holders, [&](const Owner& owner) { return owns(waiter, owner); });
  };
  if (std::ranges::any_of(line, matters)) return false;
  const std::optional<Ticket> ticket = transaction.ticket(first.ticket);
  if (!ticket || ticket->request->mode != Mode::exclusive || ticket->request->paths.size() != 1) return false;
  if (ticket->request->paths.front().scope() != scope) return false;
  if (lapse(*ticket, ledger.now(), ledger.context()) != EndCause::none) return false;
  // What it finds to be over frees this path once more.
  try_waiter(ledger, *ticket, survey_alone(transaction, ledger.context(), *ticket));
  return true;
}

// An upgrade whose owner lost the shared lease is behind ordinary waiters now, for all its paths and not only
// where that lease was.
void free_demoted(Ledger& ledger, const std::vector<Ticket>& waiters, std::set<GroupId>& seen) {
  for (const Ticket& ticket : waiters) {
    if (!ticket.upgrade || ticket.request->paths.size() == 1) continue;
    if (ledger.took_from(ticket.request->caller) && seen.insert(ticket.id).second)
      ledger.free(ticket.request);
  }
}

}  // namespace

Given give(Ledger& ledger, const std::string& workspace, const AcquireRequest& request, const GroupId& group,
           const Survey& survey, const Ticket* waited) {
  LEASEHOLD_CHECK(survey.blocked.empty());
  LEASEHOLD_CHECK(survey.places.size() == request.paths.size());
  GrantToken token(ledger.transaction());
  std::map<Scope, Lease> pending = pending_leases(ledger.transaction(), waited);
  std::map<std::string, std::vector<std::string>> pairs = pairs_by_source(request);
  std::vector<Lease> leases;
  leases.reserve(request.paths.size());
  for (std::size_t i = 0; i < request.paths.size(); ++i) {
    const WantedPath& wanted = request.paths[i];
    const auto prepared = pending.find(wanted.scope());
    if (survey.places[i].own) {
      leases.push_back(give_again(ledger, request, wanted, pairs[wanted.path], *survey.places[i].own, token));
      if (prepared != pending.end()) ledger.drop_pending(prepared->second);
    } else {
      const auto lease = prepared != pending.end() ? std::optional(prepared->second) : std::nullopt;
      leases.push_back(give_new(ledger, workspace, request, wanted, pairs[wanted.path], group, lease, token));
    }
  }
  clear_contentions(ledger.transaction(), request);
  // What the owner waits for by another request, that request may not have to wait for any more.
  if (survey.same_owner_waits) ledger.free(request);
  return {std::move(leases), token.drawn()};
}

void collect(Ledger& ledger, const std::vector<LeaseId>& leases) {
  for (const LeaseId& id : leases) {
    std::optional<Lease> lease = ledger.transaction().lease(id);
    if (!lease || lease->status != Status::active || !awaits_its_owner(*lease)) continue;
    if (lapse(*lease, ledger.now(), ledger.context()) != EndCause::none) continue;
    lease->last_heartbeat_at = ledger.now();
    lease->expires_at = end_of_term(*lease, ledger.now());
    if (lease->acquired_at == ledger.now()) {
      ledger.amend(*lease);  // It was there when it was granted.
    } else {
      ledger.extend(*lease, "collected");
    }
  }
}

std::vector<Lease> give_at_once(Ledger& ledger, const std::string& workspace, const AcquireRequest& request,
                                const GroupId& group, const Survey& survey) {
  std::vector<Lease> leases = give(ledger, workspace, request, group, survey).leases;
  // By its priority it passed somebody who waits; if its owner waits for that one, its wait gives way.
  if (survey.overtakes) fail_deadlocked_waits(ledger, request.caller.holder.owner);
  if (survey.same_owner_waits || has_raised(survey, request))
    fail_deadlocked_holders(ledger, request.caller, leases);
  return leases;
}

void record(Ledger& ledger, const Survey& survey) {
  for (const auto& [lease, cause] : survey.lapsed_leases) ledger.end(lease, cause);
  for (const auto& [ticket, cause] : survey.lapsed_tickets) ledger.fail(ticket, cause);
  for (Lease lease : survey.attended) ledger.prove_life(lease);
}

bool is_as_recorded(const Survey& survey) {
  return survey.lapsed_leases.empty() && survey.lapsed_tickets.empty() && survey.attended.empty();
}

Survey survey_and_record(Ledger& ledger, const AcquireRequest& request) {
  for (;;) {
    Survey found = survey(ledger.transaction(), ledger.context(), request);
    record(ledger, found);
    // The last survey tells of things as they were recorded.
    if (is_as_recorded(found)) return found;
    settle(ledger);
  }
}

void refetch(Transaction& transaction, std::vector<Lease>& given) {
  for (Lease& lease : given) lease = transaction.lease(lease.id).value_or(lease);
}

void settle(Ledger& ledger) {
  std::set<GroupId> demoted;
  for (std::vector<Scope> freed = ledger.take_freed(); !freed.empty(); freed = ledger.take_freed()) {
    if (settle_simply(ledger, freed)) continue;
    const std::vector<Ticket> waiters =
        in_order(ledger.transaction(), ledger.context(), ledger.transaction().tickets_at(freed));
    if (waiters.empty()) continue;
    free_demoted(ledger, waiters, demoted);
    std::set<Owner> holders = holders_at(ledger.transaction(), freed);
    // Those who go, and those who cannot, alike keep everybody behind them waiting. So the long tail
    // of a queue costs one comparison each, and only the few who may go are looked at in full.
    std::vector<Ticket> ahead;
    for (const Ticket& ticket : waiters) {
      const auto in_the_way = [&](const Ticket& other) { return conflict(ticket, other); };
      if (holds_nothing(ticket, holders) && std::ranges::any_of(ahead, in_the_way)) continue;
      // Looking at those before may have ended this one.
      if (!still_waits(ledger, ticket)) continue;
      if (const EndCause cause = lapse(ticket, ledger.now(), ledger.context()); cause != EndCause::none) {
        ledger.fail(ticket, cause);
        continue;
      }
      const Survey found = survey(ledger.transaction(), ledger.context(), ticket.request, &ticket);
      const Tried tried = try_waiter(ledger, ticket, found);
      if (tried == Tried::look_again) {
        // At them all, in order: this one is not to be passed by its own owner's next.
        for (const Scope& scope : freed) ledger.free(scope);
        ledger.free(ticket.request);
        break;
      }
      if (tried == Tried::granted) holders.insert(ticket.request->caller.holder.owner);
      ahead.push_back(ticket);
    }
    // One who waits for what it held until now has got behind others, who may wait for it.
    for (const Ticket& ticket : waiters) {
      if (ledger.took_from(ticket.request->caller) && still_waits(ledger, ticket))
        fail_if_deadlocked(ledger, ticket);
    }
  }
}

}  // namespace leasehold
