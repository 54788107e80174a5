#include "mcp/grants.h"

#include <algorithm>
#include <utility>

#include "util/unique.h"

namespace leasehold::mcp {
namespace {

constexpr std::size_t kAnswersRemembered = 64;

}  // namespace

void Grants::note(const json::value& request_id, const Told& told) {
  std::erase_if(answered_, [&](const Answered& one) { return one.request_id == request_id; });
  if (told.held.empty()) return;
  answered_.push_back({request_id, told.held, told.granted});
  if (answered_.size() > kAnswersRemembered) answered_.pop_front();
}

std::vector<LeaseId> Grants::give_up(const json::value& request_id) {
  const auto found = std::ranges::find(answered_, request_id, &Answered::request_id);
  if (found == answered_.end()) return {};
  std::vector<LeaseId> granted = std::move(found->granted);
  answered_.erase(found);
  std::erase_if(granted, [&](const LeaseId& id) {
    const auto other =
        std::ranges::find_if(answered_, [&](const Answered& one) { return contains(one.held, id); });
    if (other == answered_.end()) return false;
    other->granted.push_back(id);
    return true;
  });
  return granted;
}

}  // namespace leasehold::mcp
