// The checker's part about grants: which there were in a commit, and whether they may be.
#include <fmt/format.h>

#include <algorithm>

#include "simulation/checker.h"
#include "simulation/trace.h"

namespace leasehold::simulation {

void Checker::check_grants(const Commit& commit, const Snapshot& after, View& view) {
  std::vector<Grant> grants = grants_of_tickets(after, view);

  std::multiset<GroupId> rung(commit.rings.begin(), commit.rings.end());
  for (const Grant& grant : grants) {
    if (rung.erase(grant.group) != 1) fail("I12", "a waiter was granted, and its bell was not rung once");
  }
  if (call() != nullptr && call()->kind == Call::Kind::instruct) rung.erase({call()->contention});
  if (!rung.empty()) fail("I12", "a bell was rung for nothing");

  AcquireRequest request;
  if (const auto group = group_of_call(commit, grants)) {
    request = without_abandoned(call()->request);
    grants.push_back({rules_.contender(request, now_), *group});
  }
  for (const Grant& grant : grants) {
    check_complete(grant, after);
    // An operator's word goes before the queue.
    if (call() == nullptr || call()->kind != Call::Kind::instruct) check_order(grant, commit, after);
    check_key(grant);
  }
}

// Who waited before and does not now was granted, or failed and has nothing.
std::vector<Checker::Grant> Checker::grants_of_tickets(const Snapshot& after, View& view) const {
  std::vector<Grant> grants;
  for (const Ticket& ticket : now_.tickets) {
    if (after.find(ticket.id) != nullptr) continue;
    const std::optional<Ticket> ended = view.ticket(ticket.id);
    if (ended && ended->status == Status::active)
      grants.push_back({rules_.contender(ticket, now_), ticket.id});
  }
  return grants;
}

// What was acquired for no ticket was acquired for the one who asks, or handed over.
std::optional<GroupId> Checker::group_of_call(const Commit& commit, const std::vector<Grant>& by_ticket) {
  std::optional<GroupId> group;
  for (const Event& event : commit.events) {
    if (event.type != EventType::acquired) continue;
    if (std::ranges::find(by_ticket, event.group_id, &Grant::group) != by_ticket.end()) continue;
    const bool handed_over =
        call() != nullptr && call()->kind == Call::Kind::transfer && event.owner == call()->to;
    if (handed_over) continue;
    const bool asked_for =
        call() != nullptr && (call()->kind == Call::Kind::acquire || call()->kind == Call::Kind::gate
                                  ? event.owner == call()->caller.holder.owner
                                  : call()->kind == Call::Kind::instruct && event.owner == call()->to);
    if (!asked_for || (group && *group != event.group_id)) {
      fail("I10",
           fmt::format("{} was given to {}, which did not ask for it", event.path, event.owner.agent_id));
      return std::nullopt;
    }
    group = event.group_id;
  }
  return group;
}

// The gate leaves out what pairing added and an operator told the owner to leave alone.
AcquireRequest Checker::without_abandoned(AcquireRequest request) const {
  const auto is_abandoned = [&](const WantedPath& wanted) {
    return !wanted.requested && std::ranges::any_of(now_.contentions, [&](const Contention& one) {
      return one.owner() == request.caller.holder.owner && one.path == wanted.path &&
             one.state == ContentionState::abandoned;
    });
  };
  if (call()->kind == Call::Kind::gate) std::erase_if(request.paths, is_abandoned);
  return request;
}

void Checker::check_complete(const Grant& grant, const Snapshot& after) {
  const AcquireRequest& request = *grant.who.request;
  for (const WantedPath& wanted : request.paths) {
    const bool given = std::ranges::any_of(after.leases, [&](const Lease& lease) {
      return lease.scope() == wanted.scope() && is_mine(request.caller, lease.holder.owner) &&
             is_enough(lease.mode, request.mode);
    });
    if (!given) {
      fail("I10", fmt::format("the grant to {} lacks {}", request.caller.holder.owner.agent_id,
                              text(wanted.scope())));
    }
  }
}

// Nobody live who was ahead of it still waits for what it got. (One who came only now is too late:
// what was over could have gone to the next in line before, had somebody looked.) What its owner had
// already, or got by another request in the same commit, it did not have to queue for.
void Checker::check_order(const Grant& grant, const Commit& commit, const Snapshot& after) {
  const AcquireRequest& request = *grant.who.request;
  Snapshot had;
  std::ranges::copy_if(after.tickets, std::back_inserter(had.tickets),
                       [&](const Ticket& ticket) { return now_.find(ticket.id) != nullptr; });
  std::optional<Token> token;  // The grant's; none if all it did was to upgrade.
  for (const Event& event : commit.events) {
    if (event.type == EventType::acquired && event.group_id == grant.group) token = event.token;
  }
  // A waiter is granted by the way when its owner upgrades by the call.
  const bool call_upgraded =
      !grant.who.ticket.text.empty() && call() != nullptr && call()->kind == Call::Kind::acquire &&
      is_mine(request.caller, call()->caller.holder.owner) && rules_.contender(call()->request, now_).upgrade;
  for (const Lease& lease : after.leases) {
    if (!is_mine(request.caller, lease.holder.owner)) continue;
    const Lease* before = now_.find(lease.id);
    const auto did_it = [&](const Event& event) {
      if (event.lease_id != lease.id) return false;
      return (event.type == EventType::acquired && event.group_id == grant.group) ||
             (event.type == EventType::upgraded && (token ? event.token == *token : !call_upgraded));
    };
    const bool got_now = std::ranges::any_of(commit.events, did_it);
    if (!got_now) {
      had.leases.push_back(lease);
    } else if (before != nullptr) {
      had.leases.push_back(*before);
    }
  }
  Contender who = grant.who;
  // By that other request it may have come to hold shared what it asks for now.
  if (who.ticket.text.empty()) who.upgrade |= rules_.contender(request, had).upgrade;
  // What it got may make another one's wait an upgrade, who acts for the same session: from now on.
  Snapshot ranks = after;
  std::erase_if(ranks.leases,
                [&](const Lease& lease) { return is_mine(request.caller, lease.holder.owner); });
  ranks.leases.insert(ranks.leases.end(), had.leases.begin(), had.leases.end());
  const std::vector<Owner> passed =
      rules_.obstacles(had, who, Rules::Counting::live, Rules::Counting::live, &ranks);
  if (passed.empty()) return;
  fail("I13", fmt::format("{} was granted {} before {}, who is ahead", request.caller.holder.owner.agent_id,
                          text(request.paths.front().scope()), passed.front().agent_id));
}

void Checker::check_key(const Grant& grant) {
  const AcquireRequest& request = *grant.who.request;
  if (request.idempotency_key.empty()) return;
  const auto [place, is_new] =
      granted_keys_.emplace(std::pair(request.caller.holder.owner, request.idempotency_key), grant.group);
  if (!is_new && place->second != grant.group) {
    fail("I5", fmt::format("{} was granted twice under the key {}", request.caller.holder.owner.agent_id,
                           request.idempotency_key));
  }
}

}  // namespace leasehold::simulation
