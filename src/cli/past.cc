#include "cli/past.h"

#include <map>

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

}  // namespace leasehold
