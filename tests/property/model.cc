#include "property/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

namespace leasehold::property {

std::string Model::apply(const Operation& operation) {
  const auto of_ticket = [&](auto act) {
    const std::optional<int> ticket = ticket_named(operation);
    if (!ticket) return std::string("no ticket");
    if (ticket_at(*ticket).agent != operation.agent) return std::string("not_owner");
    return act(*ticket);
  };
  std::string answer;
  switch (operation.verb) {
    case Verb::acquire: {
      std::vector<Place> wants;
      for (const int index : operation.places) wants.push_back(place_at(index));
      answer = acquire(operation, std::move(wants));
      break;
    }
    case Verb::advance:
      now_ += operation.seconds;
      look_around(operation.attention);
      break;
    case Verb::kill: {
      int& process = processes_.at(operation.agent);
      if (process == 0) break;
      const bool seen = !out_of_sight_.contains(process);
      if (seen) dead_.insert(process);
      process = ++last_process_;
      if (!seen) out_of_sight_.insert(process);
      look_around(operation.attention);
      break;
    }
    case Verb::poll:
      answer = of_ticket([&](int ticket) { return poll(ticket); });
      break;
    case Verb::cancel:
      answer = of_ticket([&](int ticket) { return cancel(ticket); });
      break;
    case Verb::release:
      answer = release(operation);
      break;
    case Verb::release_all:
      answer = release_all(operation.agent);
      break;
    case Verb::renew:
    case Verb::renew_all:
      answer = renew(operation, operation.verb == Verb::renew_all);
      break;
    case Verb::upgrade:
      answer = upgrade(operation);
      break;
    case Verb::downgrade:
      answer = downgrade(operation);
      break;
    case Verb::transfer:
    case Verb::transfer_all:
      answer = transfer(operation, operation.verb == Verb::transfer_all);
      break;
    case Verb::force:
    case Verb::recall:
      answer = force(operation, operation.verb == Verb::recall);
      break;
    case Verb::check:
      answer = check(operation);
      break;
    case Verb::turn_started:
    case Verb::turn_stopped:
      turn(operation.agent, operation.verb == Verb::turn_started);
      break;
  }
  settle();
  return answer;
}

bool Model::is_alive(int process) const {
  return process != 0 && !out_of_sight_.contains(process) && !dead_.contains(process);
}

EndCause Model::over(const ModelLease& lease) const {
  if (lease.recalled && now_ >= *lease.recalled) return EndCause::recalled;
  if (lease.idle && now_ >= *lease.idle) return EndCause::idle;
  if (is_dead(lease.process)) return EndCause::owner_dead;
  if (now_ < lease.until) return EndCause::none;
  if (!lease.attended || !is_alive(lease.process)) return EndCause::expired;
  return now_ < lease.heard + kSilenceMax ? EndCause::none : EndCause::silent;
}

EndCause Model::over(const ModelTicket& ticket) const {
  if (now_ >= ticket.wait_until) return EndCause::timed_out;
  if (is_dead(ticket.process)) return EndCause::owner_dead;
  if (!is_alive(ticket.process) && now_ >= ticket.proven_until) return EndCause::owner_dead;
  return EndCause::none;
}

long Model::end_of_term(const ModelLease& lease) const {
  return std::min({now_ + lease.ttl, lease.recalled.value_or(LONG_MAX), lease.idle.value_or(LONG_MAX)});
}

void Model::wake(ModelLease& lease) const {
  lease.idle.reset();
  lease.until = std::max(lease.until, end_of_term(lease));
}

void Model::look_around(Attention attention) {
  patient_.clear();
  if (attention == Attention::polls || attention == Attention::polls_upward) {
    // Looking again for one request proves to that call that the process lives, and so saves the others;
    // where only the asker sees its process, it depends on who looks first. So there it is all or none.
    std::set<int> silent;
    for (const ModelTicket* ticket : waiting_in_order()) {
      if (over(*ticket) != EndCause::none) silent.insert(ticket->process);
    }
    for (const ModelTicket* ticket : waiting_in_order()) {
      const bool depends = out_of_sight_.contains(ticket->process) && silent.contains(ticket->process);
      if (over(*ticket) == EndCause::none && !depends) patient_.push_back(ticket->id);
    }
    for (const int ticket : patient_) poll(ticket);
  }
  for (ModelLease& lease : leases_) {
    if (lease.state != State::held) continue;
    if (const EndCause cause = over(lease); cause != EndCause::none) {
      end(lease, cause);
    } else if (now_ >= lease.until) {  // It lives because its owner is seen to.
      lease.until = std::min(now_ + lease.ttl, lease.heard + kSilenceMax);
      if (lease.recalled) lease.until = std::min(lease.until, *lease.recalled);
    }
  }
  for (ModelTicket& ticket : tickets_) {
    if (ticket.state != State::waiting) continue;
    if (const EndCause cause = over(ticket); cause != EndCause::none) fail(ticket, cause);
  }
}

void Model::end(ModelLease& lease, EndCause cause) {
  take_from(lease);
  lease.state = State::over;
  lease.cause = cause;
  // Whether the end of a recall is news depends on who heard of the recall before; scenarios have that.
  if (cause != EndCause::released && cause != EndCause::recalled)
    notices_[lease.agent].insert(fmt::format("{} {}", word(cause), lease.place.path));
}

void Model::take_from(const ModelLease& lease) {
  losers_.insert(lease.agent);
  freed_.push_back(lease.place);
}

void Model::fail(ModelTicket& ticket, EndCause cause) {
  freed_.insert(freed_.end(), ticket.wants.begin(), ticket.wants.end());
  ticket.state = State::over;
  ticket.cause = cause;
  for (const int id : ticket.leases) {
    lease_at(id).state = State::over;
    lease_at(id).cause = cause;
  }
}

bool Model::anybody_waits() const {
  return std::ranges::any_of(tickets_,
                             [](const ModelTicket& ticket) { return ticket.state == State::waiting; });
}

std::optional<int> Model::ticket_named(const Operation& operation) const {
  if (tickets_.empty()) return std::nullopt;
  return static_cast<int>(tickets_.size()) - 1 - operation.number % static_cast<int>(tickets_.size());
}

std::optional<int> Model::token_named(const Operation& operation) const {
  if (operation.number == 0 || last_token_ == 0) return std::nullopt;
  if (operation.number > 1) return std::max(1, last_token_ + 2 - operation.number);
  const std::vector<int> found = own_at(operation.agent, operation.place().path);
  if (found.empty()) return last_token_;
  return lease_at(found.front()).token;
}

std::vector<std::string> Model::board() {
  std::vector<std::string> lines;
  for (const ModelLease& lease : leases_) {
    if (lease.state != State::held) continue;
    std::string line =
        fmt::format("{} {} {} l{} t{} ttl {} until {} heard {} renewed {}/{}", to_text(lease.place),
                    lease.exclusive ? "exclusive" : "shared", agent_name(lease.agent), lease.id, lease.token,
                    lease.ttl, lease.until, lease.heard, lease.renewals, lease.renewals_max);
    if (lease.attended) line += " attended";
    if (lease.idle) line += fmt::format(" idle at {}", *lease.idle);
    if (lease.recalled) line += fmt::format(" recalled at {}", *lease.recalled);
    lines.push_back(std::move(line));
  }
  std::ranges::sort(lines);
  const std::vector<ModelTicket*> waiting = waiting_in_order();
  for (const std::string& path : all_paths()) {
    for (const ModelTicket* ticket : waiting) {
      for (const int id : ticket->leases) {
        const ModelLease& lease = lease_at(id);
        if (lease.place.path != path) continue;
        lines.push_back(fmt::format("{} {} {} l{} waits q{}", to_text(lease.place),
                                    lease.exclusive ? "exclusive" : "shared", agent_name(lease.agent),
                                    lease.id, ticket->id));
      }
    }
  }
  return lines;
}

}  // namespace leasehold::property
