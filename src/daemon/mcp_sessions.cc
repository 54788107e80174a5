#include "daemon/mcp_sessions.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <utility>

namespace leasehold::daemon {
namespace {

constexpr std::size_t kSessionsMost = 10'000;
constexpr std::size_t kSessionsOfOneMost = 1'000;

// For all sessions together: each asks the store.
constexpr std::chrono::seconds kEndsWithin{5};

}  // namespace

bool McpSession::runs(const std::string& id) const {
  const auto known = running.find(id);
  const auto call = known == running.end() ? nullptr : known->second.lock();
  return call && !call->is_cancelled();
}

void McpSession::let_go(const McpCall& call) {
  const auto known = running.find(boost::json::serialize(call.message().id));
  if (known == running.end()) return;
  if (const auto current = known->second.lock(); !current || current.get() == &call) running.erase(known);
}

void McpSession::note(const McpCall& call) {
  const mcp::Told& answered = call.told();
  grants.note(call.message().id, answered);
  granted.insert(answered.granted.begin(), answered.granted.end());
  for (const LeaseId& id : answered.over) granted.erase(id);
}

std::vector<LeaseId> McpSession::give_up(const mcp::json::value& request_id) {
  std::vector<LeaseId> ids = grants.give_up(request_id);
  for (const LeaseId& id : ids) granted.erase(id);
  return ids;
}

// Somebody's own make room first.
void McpSessions::make_room(const std::string& principal) {
  const auto is_own = [&](const auto& one) { return one.second->place.principal.name == principal; };
  const auto own = static_cast<std::size_t>(std::ranges::count_if(sessions_, is_own));
  if (own < kSessionsOfOneMost && sessions_.size() < kSessionsMost) return;
  sessions_.erase(std::ranges::min_element(
      sessions_, {}, [&](const auto& one) { return std::pair(own > 0 && !is_own(one), one.second->used); }));
}

void McpSessions::add(const std::string& id, std::shared_ptr<McpSession> session) {
  make_room(session->place.principal.name);
  sessions_[id] = std::move(session);
}

void McpSessions::end() const {
  const auto deadline = std::chrono::steady_clock::now() + kEndsWithin;
  for (const auto& [id, session] : sessions_) {
    // Where the store is away, what they have ends by its time.
    if (std::chrono::steady_clock::now() >= deadline) return;
    const std::vector<LeaseId> ids(session->granted.begin(), session->granted.end());
    if (!session->place.own_session.empty() && !ids.empty()) give_back(session->place, ids);
  }
}

std::shared_ptr<McpSession> McpSessions::find(const std::string& id, const Principal& principal) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second->place.principal.name != principal.name) return nullptr;
  found->second->used = std::chrono::steady_clock::now();
  return found->second;
}

}  // namespace leasehold::daemon
