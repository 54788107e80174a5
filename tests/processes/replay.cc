#include "processes/replay.h"

#include <fmt/format.h>

namespace leasehold::processes {
namespace {

std::string shown(const Event& event) {
  return fmt::format("#{} {} {}{} of {} token {}", event.sequence, word(event.type), event.path,
                     event.subtree ? "/**" : "", event.owner.agent_id, event.token.value);
}

Scope scope_of(const Event& event) { return {event.path, event.subtree}; }

}  // namespace

std::optional<std::string> Replay::follow(View& view) {
  for (const Event& event : view.history({.after = sequence_})) {
    if (event.sequence <= sequence_) return "a sequence that does not rise: " + shown(event);
    sequence_ = event.sequence;
    ++events_;
    if (auto wrong = apply(event)) return wrong;
  }
  for (const auto& [id, group] : groups_) {
    if (group.leases != group.wanted) {
      return fmt::format("{} of {} leases granted to group {}", group.leases, group.wanted, id.text);
    }
  }
  const simulation::Snapshot snapshot = {view.leases({}), view.tickets({})};
  std::map<Owner, std::size_t> counts;
  for (const Lease& lease : snapshot.leases) ++counts[lease.holder.owner];
  for (const auto& [owner, count] : counts) {
    if (view.lease_count(owner) != count) {
      return fmt::format("{} holds {} leases and is said to hold {}", owner.agent_id, count,
                         view.lease_count(owner));
    }
  }
  return fold_.compare(snapshot);
}

std::optional<std::string> Replay::apply(const Event& event) {
  if (auto wrong = fold_.apply(event)) return wrong;
  if (event.type == EventType::queued) ++waits_;
  if (event.type == EventType::acquired || event.type == EventType::upgraded) {
    if (auto wrong = check_grant(event)) return wrong;
  }
  if (event.status_after == Status::active) {
    held_.insert_or_assign(event.lease_id, event);
  } else {
    held_.erase(event.lease_id);
  }
  return std::nullopt;
}

std::optional<std::string> Replay::check_grant(const Event& event) {
  for (const auto& [id, other] : held_) {
    if (other.owner != event.owner && simulation::clash(other.mode, event.mode) &&
        simulation::overlap(scope_of(other), scope_of(event))) {
      return fmt::format("{} while there is {}", shown(event), shown(other));
    }
  }
  for (const auto& [scope, token] : last_tokens_) {
    if (token >= event.token && simulation::overlap(scope, scope_of(event))) {
      return fmt::format("{} after token {} on {}", shown(event), token.value, scope.path);
    }
  }
  last_tokens_[scope_of(event)] = event.token;

  Group& group = groups_[event.group_id];
  if (group.leases == 0) group = {.first = events_, .wanted = std::stoul(event.reason)};
  if (events_ != group.first + group.leases) return "not in one go: " + shown(event);
  ++group.leases;
  return std::nullopt;
}

std::optional<std::string> Replay::find_stranded() const {
  for (const auto& [id, event] : fold_.leases()) {
    if (event.status_after == Status::active) return "still held: " + shown(event);
    if (event.status_after == Status::pending) return "still waiting: " + shown(event);
  }
  return std::nullopt;
}

}  // namespace leasehold::processes
