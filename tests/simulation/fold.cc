#include "simulation/fold.h"

#include <fmt/format.h>

#include <algorithm>

namespace leasehold::simulation {
namespace {

std::string describe(const Event& event) {
  return fmt::format("{} {} of {} by {}", word(event.type), event.path, event.lease_id.text,
                     event.owner.agent_id);
}

// What a line of this kind makes of a lease in which status; the status it leaves is the line's own.
bool may_follow(const Event& event, const Event* before) {
  const std::optional<Status> status = before != nullptr ? before->status_after : std::nullopt;
  switch (event.type) {
    case EventType::queued:
      return !status && event.status_after == Status::pending;
    case EventType::acquired:
      return (!status || status == Status::pending) && event.status_after == Status::active;
    case EventType::renewed:
    case EventType::recalled:
      return status == Status::active && event.status_after == Status::active;
    case EventType::upgraded:
      return status == Status::active && before->mode == Mode::shared && event.mode == Mode::exclusive;
    case EventType::downgraded:
      return status == Status::active && before->mode == Mode::exclusive && event.mode == Mode::shared;
    case EventType::released:
      return status == Status::active && event.status_after == Status::released;
    case EventType::expired:
      return status == Status::active && event.status_after == Status::expired;
    case EventType::contended:
    case EventType::halted:
    case EventType::instructed:
      return false;  // Never a lease's.
    case EventType::failed:
      if (event.status_after == Status::failed) return status == Status::pending || status == Status::failed;
      return status == event.status_after;  // A refused renewal.
  }
  return false;
}

}  // namespace

std::optional<std::string> Fold::apply(const Event& event) {
  if (event.lease_id.text.empty()) return std::nullopt;  // A batch renewal.
  const auto found = last_.find(event.lease_id);
  const Event* before = found == last_.end() ? nullptr : &found->second;
  const bool refused_renewal = event.type == EventType::failed && event.status_before == event.status_after;
  const std::optional<Status> status = before != nullptr ? before->status_after : std::nullopt;
  if (event.status_before != status || !may_follow(event, before)) {
    return fmt::format("{} does not follow {}", describe(event),
                       before != nullptr ? describe(*before) : "nothing");
  }
  if (!refused_renewal) last_.insert_or_assign(event.lease_id, event);
  return std::nullopt;
}

std::optional<std::string> Fold::compare(const Snapshot& snapshot) const {
  const auto differs = [&](const Lease& lease) {
    const auto found = last_.find(lease.id);
    if (found == last_.end() || found->second.status_after != Status::active) return true;
    const Event& line = found->second;
    return line.owner != lease.holder.owner || line.path != lease.path || line.subtree != lease.subtree ||
           line.mode != lease.mode || line.token != lease.token;
  };
  if (const auto bad = std::ranges::find_if(snapshot.leases, differs); bad != snapshot.leases.end()) {
    return fmt::format("{} of {} is held, but not so by its history", bad->path, bad->holder.owner.agent_id);
  }
  for (const auto& [id, line] : last_) {
    const bool waits = std::ranges::any_of(snapshot.tickets, [&, &one = id](const Ticket& ticket) {
      return std::ranges::find(ticket.leases, one) != ticket.leases.end();
    });
    if (line.status_after == Status::active && snapshot.find(id) == nullptr) {
      return fmt::format("{} is held by its history, and is not", describe(line));
    }
    if ((line.status_after == Status::pending) != waits) {
      return fmt::format("{} waits by {} only", describe(line), waits ? "its ticket" : "its history");
    }
  }
  return std::nullopt;
}

}  // namespace leasehold::simulation
