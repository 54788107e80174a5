// The model: who may have what, who waits, who goes next.
#include <fmt/format.h>

#include <algorithm>

#include "property/model.h"

namespace leasehold::property {
namespace {

bool is_in(const std::string& path, const std::string& directory) {
  if (path == directory) return true;
  return path.starts_with(directory == "/" ? "/" : directory + "/");
}

}  // namespace

bool overlap(const Place& a, const Place& b) {
  return a.path == b.path || (a.subtree && is_in(b.path, a.path)) || (b.subtree && is_in(a.path, b.path));
}

bool contains(const Place& all, const Place& part) {
  return all == part || (all.subtree && is_in(part.path, all.path));
}

std::string told(std::vector<std::string> in_the_way) {
  return in_the_way.size() > 10 ? fmt::format("{} in all", in_the_way.size()) : joined(std::move(in_the_way));
}

std::string joined(std::vector<std::string> parts) {
  std::ranges::sort(parts);
  return fmt::format("{}", fmt::join(parts, ", "));
}

ModelLease* Model::own(int agent, const Place& place) {
  for (ModelLease& lease : leases_) {
    if (lease.state == State::held && lease.agent == agent && lease.place == place) return &lease;
  }
  return nullptr;
}

bool Model::has_enough(int agent, const Place& place, bool exclusive) const {
  return std::ranges::any_of(leases_, [&](const ModelLease& lease) {
    return lease.state == State::held && lease.agent == agent && contains(lease.place, place) &&
           (lease.exclusive || !exclusive);
  });
}

bool Model::has(int agent, const Place& place) const {
  return std::ranges::any_of(leases_, [&](const ModelLease& lease) {
    return lease.state == State::held && lease.agent == agent && contains(lease.place, place);
  });
}

// All it still needs, its owner holds shared.
bool Model::is_upgrade(const ModelTicket& ticket) const {
  bool needs_any = false;
  for (const Place& want : ticket.wants) {
    if (has_enough(ticket.agent, want, ticket.asked.exclusive)) continue;
    if (!has(ticket.agent, want)) return false;
    needs_any = true;
  }
  return needs_any;
}

// An upgrade is one when it arrives, and as long as it has the shared lease.
bool Model::goes_before(const ModelTicket& a, const ModelTicket& b) const {
  const bool a_upgrades = a.upgrade && is_upgrade(a);
  const bool b_upgrades = b.upgrade && is_upgrade(b);
  if (a_upgrades != b_upgrades) return a_upgrades;
  if (a.order != b.order) return a.order < b.order;
  return a.id < b.id;
}

std::vector<Model::Blocker> Model::blockers(const ModelTicket& ticket) const {
  std::vector<Blocker> found;
  for (const Place& want : ticket.wants) {
    if (has_enough(ticket.agent, want, ticket.asked.exclusive)) continue;
    for (const ModelLease& lease : leases_) {
      if (lease.state != State::held || lease.agent == ticket.agent || !overlap(lease.place, want)) continue;
      if (!lease.exclusive && !ticket.asked.exclusive) continue;
      found.push_back({lease.agent, fmt::format("{}: {} holds {}", want.path, agent_name(lease.agent),
                                                to_text(lease.place))});
    }
    for (const ModelTicket& other : tickets_) {
      if (other.state != State::waiting || other.agent == ticket.agent || !goes_before(other, ticket))
        continue;
      if (!other.asked.exclusive && !ticket.asked.exclusive) continue;
      const auto touching =
          std::ranges::find_if(other.wants, [&](const Place& place) { return overlap(place, want); });
      if (touching == other.wants.end()) continue;
      found.push_back({other.agent, fmt::format("{}: {} waits for {}", want.path, agent_name(other.agent),
                                                to_text(*touching))});
    }
  }
  return found;
}

// One more than the waiters ahead, on the path where there are most.
std::size_t Model::position(const ModelTicket& ticket) const {
  std::size_t most = 0;
  for (const Place& want : ticket.wants) {
    if (has_enough(ticket.agent, want, ticket.asked.exclusive)) continue;
    const auto ahead = std::ranges::count_if(tickets_, [&](const ModelTicket& other) {
      return other.state == State::waiting && other.agent != ticket.agent && goes_before(other, ticket) &&
             std::ranges::any_of(other.wants, [&](const Place& place) { return overlap(place, want); });
    });
    most = std::max(most, static_cast<std::size_t>(ahead));
  }
  return most + 1;
}

// Some of these waits for somebody who waits for ... `agent`.
bool Model::lead_back_to(int agent, const std::vector<const ModelTicket*>& start) const {
  std::set<int> reached;
  std::vector<int> to_follow;
  const auto follow = [&](const ModelTicket& ticket) {
    for (const Blocker& blocker : blockers(ticket)) to_follow.push_back(blocker.agent);
  };
  for (const ModelTicket* ticket : start) follow(*ticket);
  while (!to_follow.empty()) {
    const int next = to_follow.back();
    to_follow.pop_back();
    if (next == agent) return true;
    if (!reached.insert(next).second) continue;
    for (const ModelTicket& ticket : tickets_) {
      if (ticket.state == State::waiting && ticket.agent == next) follow(ticket);
    }
  }
  return false;
}

// An owner cannot go on while any of its requests waits, so any of them can close the cycle.
bool Model::would_wait_for_itself(int agent) const {
  std::vector<const ModelTicket*> own;
  for (const ModelTicket& ticket : tickets_) {
    if (ticket.state == State::waiting && ticket.agent == agent) own.push_back(&ticket);
  }
  return lead_back_to(agent, own);
}

// Those of its waits end that are in a cycle.
void Model::break_cycles(int agent) {
  for (ModelTicket* ticket : waiting_in_order()) {
    if (ticket->agent == agent && lead_back_to(agent, {ticket})) fail(*ticket, EndCause::deadlock);
  }
}

ModelTicket Model::arrival(const Operation& asked, std::vector<Place> wants) {
  ModelTicket ticket = {.id = static_cast<int>(tickets_.size()),
                        .agent = asked.agent,
                        .process = processes_.at(asked.agent),
                        .wants = std::move(wants),
                        .asked = asked,
                        .order = now_ - asked.priority * kPriorityStep,
                        .wait_until = now_ + asked.wait,
                        .proven_until = now_ + kWaiterSilence};
  ticket.upgrade = is_upgrade(ticket);
  return ticket;
}

void Model::give(ModelTicket& ticket) {
  const long ttl = std::min<long>(ticket.asked.ttl, kTtlMax);
  const auto new_token = [&] { return ticket.token != 0 ? ticket.token : ticket.token = ++last_token_; };
  std::vector<int> given;
  for (const Place& want : ticket.wants) {
    const auto pending =
        std::ranges::find_if(ticket.leases, [&](int id) { return lease_at(id).place == want; });
    if (ModelLease* lease = own(ticket.agent, want)) {
      lease->attended |= ticket.asked.attended;
      if (lease->idle) wake(*lease);
      lease->heard = now_;
      if (ticket.process != 0) lease->process = ticket.process;
      if (now_ + ttl > lease->until) {
        lease->ttl = ttl;
        lease->until = lease->recalled ? std::min(now_ + ttl, *lease->recalled) : now_ + ttl;
      }
      if (ticket.asked.exclusive && !lease->exclusive) {
        lease->exclusive = true;
        lease->token = new_token();
      }
      given.push_back(lease->id);
      if (pending != ticket.leases.end()) lease_at(*pending).state = State::over;
      continue;
    }
    if (pending == ticket.leases.end())
      leases_.push_back({.id = static_cast<int>(leases_.size()), .group = -1});
    ModelLease& lease = pending == ticket.leases.end() ? leases_.back() : lease_at(*pending);
    lease = {.id = lease.id,
             .agent = ticket.agent,
             .process = ticket.process,
             .place = want,
             .exclusive = ticket.asked.exclusive,
             .token = new_token(),
             .group = lease.group,
             .ttl = ttl,
             .until = now_ + ttl,
             .heard = now_,
             .renewals_max = ticket.asked.one_renewal ? 1 : -1,
             .attended = ticket.asked.attended};
    given.push_back(lease.id);
  }
  ticket.leases = std::move(given);
}

std::string Model::acquire(const Operation& asked, std::vector<Place> wants) {
  ModelTicket ticket = arrival(asked, std::move(wants));
  std::vector<std::string> in_the_way;
  for (const Blocker& blocker : blockers(ticket)) in_the_way.push_back(blocker.text);
  if (in_the_way.empty()) {
    give(ticket);
    // By its priority it may have passed somebody for whom its owner waits.
    break_cycles(asked.agent);
    return asked.ttl > kTtlMax ? "granted, clamped" : "granted";
  }
  if (asked.wait == 0) return "busy: " + told(in_the_way);

  tickets_.push_back(ticket);
  if (would_wait_for_itself(asked.agent)) {
    tickets_.pop_back();
    return "deadlock: " + told(in_the_way);
  }
  for (const Place& want : ticket.wants) {
    leases_.push_back({.id = static_cast<int>(leases_.size()),
                       .agent = ticket.agent,
                       .place = want,
                       .exclusive = asked.exclusive,
                       .group = ticket.id,
                       .state = State::waiting,
                       .was_held = false});
    tickets_.back().leases.push_back(leases_.back().id);
  }
  return fmt::format("queued {}: {}", position(ticket), told(in_the_way));
}

std::vector<ModelTicket*> Model::waiting_in_order() {
  std::vector<ModelTicket*> waiting;
  for (ModelTicket& ticket : tickets_) {
    if (ticket.state == State::waiting) waiting.push_back(&ticket);
  }
  std::ranges::sort(waiting, [&](const auto* a, const auto* b) { return goes_before(*a, *b); });
  return waiting;
}

// Everybody who can go goes, the first first. Whoever waits for what it just lost is behind others now,
// who may wait for it: that wait ends.
void Model::settle() {
  for (bool again = true; std::exchange(again, false);) {
    for (ModelTicket* ticket : waiting_in_order()) {
      if (!blockers(*ticket).empty()) continue;
      give(*ticket);
      ticket->state = State::held;
      woken_.push_back(ticket->id);
      again = true;
    }
    if (again) continue;
    for (ModelTicket* ticket : waiting_in_order()) {
      const bool is_near = std::ranges::any_of(freed_, [&](const Place& place) {
        return std::ranges::any_of(ticket->wants, [&](const Place& want) { return overlap(want, place); });
      });
      if (!is_near || !losers_.contains(ticket->agent) || !lead_back_to(ticket->agent, {ticket})) continue;
      fail(*ticket, EndCause::deadlock);
      again = true;
    }
  }
  losers_.clear();
  freed_.clear();
}

std::string Model::upgrade(Operation asked) {
  std::vector<Place> wants;
  for (const int index : asked.places) {
    Place place = place_at(index);
    if (own_at(asked.agent, place.path).empty())
      return has(asked.agent, place) ? "not_found" : why_not(asked.agent, place.path);
    if (own(asked.agent, place) == nullptr) place.subtree = !place.subtree;
    if (std::ranges::find(wants, place) == wants.end()) wants.push_back(place);
  }
  asked.exclusive = true;
  return acquire(asked, std::move(wants));
}

std::string Model::poll(int id) {
  ModelTicket& ticket = ticket_at(id);
  std::vector<std::string> in_the_way;
  for (const Blocker& blocker : blockers(ticket)) in_the_way.push_back(blocker.text);
  switch (ticket.state) {
    case State::waiting:
      if (ticket.proven_until < now_ + kWaiterSilence / 2 || ticket.process != processes_.at(ticket.agent))
        ticket.proven_until = now_ + kWaiterSilence;
      ticket.process = processes_.at(ticket.agent);
      return fmt::format("queued {}: {}", position(ticket), told(in_the_way));
    case State::held: {
      // And still what was asked for: its owner may have made it weaker since.
      const auto is_held = [&](int id_of_lease) {
        const ModelLease& lease = lease_at(id_of_lease);
        return lease.state == State::held && (lease.exclusive || !ticket.asked.exclusive);
      };
      return std::ranges::all_of(ticket.leases, is_held) ? "granted" : "lost: ";
    }
    case State::over:
      break;
  }
  const std::string why = ticket.cause == EndCause::timed_out  ? "timeout: "
                          : ticket.cause == EndCause::deadlock ? "deadlock: "
                                                               : "lost: ";
  return why + told(in_the_way);
}

std::string Model::cancel(int id) {
  ModelTicket& ticket = ticket_at(id);
  if (ticket.state == State::waiting) {
    fail(ticket, EndCause::cancelled);
  } else if (ticket.state == State::held) {
    for (const int lease : ticket.leases) {
      ModelLease& given = lease_at(lease);
      if (given.state != State::held) continue;
      if (given.group == id) {
        end(given, EndCause::released);
      } else if (given.exclusive && given.token == ticket.token) {  // It was shared before.
        take_from(given);
        given.exclusive = false;
      }
    }
  }
  return "cancelled";
}

}  // namespace leasehold::property
