#include "cli/past.h"

#include <map>

#include "util/wall_now.h"

namespace leasehold {
namespace {

Stay begun_by(const Event& event) {
  return {.lease_id = event.lease_id,
          .path = event.path,
          .subtree = event.subtree,
          .mode = event.mode,
          .owner = event.owner,
          .pr_id = event.pr_id,
          .token = event.token,
          .waits = event.status_after == Status::pending,
          .reason = event.reason,
          .from = event.wall,
          .to = {},
          .cause = EndCause::none};
}

constexpr auto kKnown = std::chrono::hours(1);

bool is_open(Status status) { return status == Status::pending || status == Status::active; }

}  // namespace

std::vector<Stay> stays(std::span<const Event> events) {
  std::vector<Stay> all;
  std::map<LeaseId, std::size_t> open;
  for (const Event& event : events) {
    if (event.lease_id.text.empty() || !event.status_after) continue;  // A batch, or a refused renewal.
    const auto known = open.find(event.lease_id);
    const bool waits = event.status_after == Status::pending;
    if (known != open.end()) {
      Stay& stay = all[known->second];
      const bool goes_on = is_open(*event.status_after) && stay.waits == waits;
      if (goes_on) {
        stay.mode = event.mode;
        stay.token = event.token;
        continue;
      }
      stay.to = event.wall;
      stay.cause = event.cause;
      open.erase(known);
    }
    if (!is_open(*event.status_after)) continue;
    open[event.lease_id] = all.size();
    all.push_back(begun_by(event));
  }
  return all;
}

Result<void> end_in_time(std::vector<Stay>& all, Client& client) {
  std::optional<Board> present;
  for (Stay& stay : all) {
    const bool ran_out = stay.to && stay.cause == EndCause::expired && *stay.to > wall_now() - kKnown;
    if (stay.waits || (stay.to && !ran_out)) continue;
    const auto lease = client.lease(stay.lease_id);
    if (!lease && lease.error().code == Code::not_found) continue;
    if (!lease) return fail(lease.error());
    if (!present) {
      auto board = client.board({.paths = {stay.path}});
      if (!board) return fail(board.error());
      present = *std::move(board);
    }
    // One who is seen to live keeps it past its time.
    const bool is_attended = lease->status == Status::active && lease->attended;
    const bool is_over = lease->status == Status::active || lease->ended_by == EndCause::expired;
    if (lease->expires_at >= present->now || is_attended || !is_over) continue;
    stay.to = wall_time(lease->expires_at, present->now, present->wall);
    stay.cause = EndCause::expired;
  }
  return {};
}

}  // namespace leasehold
