// The model: giving back, keeping, handing over.
#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "property/model.h"

namespace leasehold::property {

std::vector<int> Model::own_at(int agent, const std::string& path) const {
  std::vector<int> found;
  for (const ModelLease& lease : leases_) {
    if (lease.state == State::held && lease.agent == agent && lease.place.path == path)
      found.push_back(lease.id);
  }
  return found;
}

const ModelLease* Model::newest(int agent, const std::string& path) const {
  const ModelLease* found = nullptr;
  for (const ModelLease& lease : leases_) {
    if (lease.agent == agent && lease.place.path == path && lease.was_held) found = &lease;
  }
  return found;
}

// What an agent is told that names a path it does not hold.
std::string Model::why_not(int agent, const std::string& path) const {
  const ModelLease* last = newest(agent, path);
  if (last != nullptr && last->state == State::over)
    return last->cause == EndCause::transferred ? "transferred" : "lost";
  const auto holds_it = [&](const ModelLease& lease) {
    return lease.state == State::held && lease.place.path == path;
  };
  return std::ranges::any_of(leases_, holds_it) ? "not_owner" : "not_found";
}

std::string Model::release(const Operation& operation) {
  const std::vector<int> found = own_at(operation.agent, operation.place().path);
  if (found.empty()) {
    const std::string why = why_not(operation.agent, operation.place().path);
    return why == "lost" || why == "transferred" ? "already" : why;
  }
  const std::optional<int> token = token_named(operation);
  std::vector<std::string> answers;
  for (const int id : found) {
    ModelLease& lease = lease_at(id);
    if (token && *token != lease.token) {
      answers.push_back("stale_token");
    } else {
      end(lease, EndCause::released);
      answers.push_back("done");
    }
  }
  return joined(answers);
}

std::string Model::release_all(int agent) {
  std::vector<std::string> answers;
  for (ModelLease& lease : leases_) {
    if (lease.state != State::held || lease.agent != agent) continue;
    end(lease, EndCause::released);
    answers.push_back("done");
  }
  for (ModelTicket& ticket : tickets_) {
    if (ticket.state == State::waiting && ticket.agent == agent) fail(ticket, EndCause::cancelled);
  }
  return joined(answers);
}

std::string Model::renew(const Operation& operation, bool all) {
  const std::optional<int> token = all ? std::nullopt : token_named(operation);
  std::vector<std::string> answers;
  for (ModelLease& lease : leases_) {
    if (lease.state != State::held || lease.agent != operation.agent) continue;
    if (!all && lease.place.path != operation.place().path) continue;
    if (token && *token != lease.token) {
      answers.push_back("stale_token");
    } else if (lease.renewals_max >= 0 && lease.renewals >= lease.renewals_max) {
      answers.push_back("max_renewals_exceeded");
    } else {
      lease.ttl = std::min<long>(operation.ttl, kTtlMax);
      lease.until = end_of_term(lease);
      lease.heard = now_;
      if (processes_.at(operation.agent) != 0) lease.process = processes_.at(operation.agent);
      ++lease.renewals;
      answers.push_back(operation.ttl > kTtlMax ? "clamped" : "done");
    }
  }
  return answers.empty() && !all ? why_not(operation.agent, operation.place().path) : joined(answers);
}

std::string Model::downgrade(const Operation& operation) {
  std::vector<std::string> answers;
  for (const int id : own_at(operation.agent, operation.place().path)) {
    ModelLease& lease = lease_at(id);
    answers.push_back(lease.exclusive ? "done" : "already");
    if (lease.exclusive) take_from(lease);
    lease.exclusive = false;
  }
  return answers.empty() ? why_not(operation.agent, operation.place().path) : joined(answers);
}

std::string Model::transfer(const Operation& operation, bool all) {
  std::vector<int> chosen;
  for (const ModelLease& lease : leases_) {
    const bool is_meant = all || lease.place.path == operation.place().path;
    if (lease.state == State::held && lease.agent == operation.agent && is_meant) chosen.push_back(lease.id);
  }
  if (chosen.empty()) return all ? "" : why_not(operation.agent, operation.place().path);
  // What comes last is what was last had there, of those with one name.
  std::ranges::sort(chosen, {}, [this](int id) {
    const Place& place = lease_at(id).place;
    return std::pair(place.path, place.subtree);
  });

  std::vector<std::string> answers(chosen.size(), "done");
  if (operation.other == operation.agent) return joined(answers);
  // Two owners would hold what only one may, if the giver kept something that overlaps.
  for (const ModelLease& kept : leases_) {
    if (kept.state != State::held || kept.agent != operation.agent || std::ranges::count(chosen, kept.id) > 0)
      continue;
    for (const int id : chosen) {
      const ModelLease& given = lease_at(id);
      if (overlap(kept.place, given.place) && (kept.exclusive || given.exclusive)) return "busy";
    }
  }
  // These two are of one session.
  const auto is_of_session = [](int agent) { return agent == 1 || agent == kWithoutProcess; };
  const bool goes_on = operation.attended && is_of_session(operation.agent) && is_of_session(operation.other);
  int token = 0;
  for (const int id : chosen) {
    const ModelLease lease = lease_at(id);
    lease_at(id).state = State::over;
    lease_at(id).cause = EndCause::transferred;
    take_from(lease);
    if (token == 0) token = ++last_token_;
    notices_[operation.other].insert("received " + lease.place.path);
    const long recalled = lease.recalled.value_or(LONG_MAX);
    if (ModelLease* held = own(operation.other, lease.place)) {
      if (lease.recalled) held->recalled = std::min(recalled, held->recalled.value_or(LONG_MAX));
      held->ttl = std::max(held->ttl, lease.ttl);
      held->until = end_of_term(*held);
      held->token = token;
      held->exclusive |= lease.exclusive;
      if (goes_on) attend(*held);
      continue;
    }
    leases_.push_back({.id = static_cast<int>(leases_.size()),
                       .agent = operation.other,
                       .process = processes_.at(operation.other),
                       .place = lease.place,
                       .exclusive = lease.exclusive,
                       .token = token,
                       .group = -1,
                       .ttl = lease.ttl,
                       .until = std::min(now_ + lease.ttl, recalled),
                       .heard = now_,
                       .renewals_max = lease.renewals_max,
                       .attended = goes_on,
                       .recalled = lease.recalled});
  }
  settle();
  // What it holds now, others may wait for on whom it waits.
  break_cycles(operation.other);
  return joined(answers);
}

std::string Model::force(const Operation& operation, bool recall) {
  std::vector<std::string> answers;
  for (ModelLease& lease : leases_) {
    if (lease.state != State::held || lease.place.path != operation.place().path) continue;
    answers.push_back("done");
    if (!recall) {
      end(lease, EndCause::forced);
      continue;
    }
    lease.recalled = std::min(now_ + operation.seconds, lease.recalled.value_or(LONG_MAX));
    lease.until = std::min(lease.until, *lease.recalled);
    notices_[lease.agent].insert(fmt::format("recalled {}", lease.place.path));
  }
  return answers.empty() ? "not_found" : joined(answers);
}

std::string Model::check(const Operation& operation) {
  const std::string& path = operation.place().path;
  const int token = token_named(operation).value_or(0);
  bool somebody_covers_it = false;
  for (const ModelLease& lease : leases_) {
    if (lease.state != State::held || !overlap(lease.place, {path, false})) continue;
    if (lease.token == token) return "current";
    somebody_covers_it = true;
  }
  const ModelLease* former = nullptr;
  for (const Place& place : all_places()) {
    const ModelLease* last = newest(operation.agent, place.path);
    if (last == nullptr || last->state != State::over || last->token != token) continue;
    const bool is_nearer = former == nullptr || last->place.path.size() > former->place.path.size();
    if (contains(last->place, {path, false}) && is_nearer) former = last;
  }
  if (former != nullptr && former->cause == EndCause::transferred) return "transferred";
  if (somebody_covers_it) return "stale_token";
  return former != nullptr ? "lost" : "not_found";
}

void Model::attend(ModelLease& lease) {
  lease.attended = true;
  if (const int process = processes_.at(lease.agent); process != 0) lease.process = process;
}

void Model::turn(int agent, bool started) {
  for (ModelLease& lease : leases_) {
    if (lease.state != State::held || lease.agent != agent) continue;
    if (started) {
      attend(lease);
      lease.heard = now_;
      if (lease.idle) wake(lease);
    } else {
      lease.attended = false;
      lease.idle = lease.idle.value_or(now_ + kIdleGrace);
      lease.until = std::max(lease.until, *lease.idle);
    }
  }
}

}  // namespace leasehold::property
