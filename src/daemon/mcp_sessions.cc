#include "daemon/mcp_sessions.h"

#include <algorithm>
#include <utility>

namespace leasehold::daemon {
namespace {

constexpr std::size_t kSessionsMost = 10'000;

}  // namespace

void McpSessions::add(const std::string& id, std::shared_ptr<McpSession> session) {
  if (sessions_.size() >= kSessionsMost) {
    sessions_.erase(
        std::ranges::min_element(sessions_, {}, [](const auto& one) { return one.second->used; }));
  }
  sessions_[id] = std::move(session);
}

std::shared_ptr<McpSession> McpSessions::find(const std::string& id, const Principal& principal) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second->place.principal.name != principal.name) return nullptr;
  found->second->used = std::chrono::steady_clock::now();
  return found->second;
}

}  // namespace leasehold::daemon
