#include "daemon/routes.h"

#include <algorithm>

namespace leasehold::daemon {
namespace {

constexpr Route kRoutes[] = {
    {"POST", "/v1/leases", Role::agent, "acquire",
     "Lease files, all or none; with Prefer: wait=N, or until=decided, wait for them", "AcquireRequest",
     "AcquireAnswer", "until", "200 201 202 408 409 410 422 429", handlers::acquire, true},
    {"GET", "/v1/leases", Role::read_only, "list_leases", "Who holds and who waits, page by page", "",
     "Board", "path agent_id session_id pr_id limit cursor", "200 422", handlers::list},
    {"POST", "/v1/leases/renew", Role::agent, "renew_leases",
     "Renew leases of yours; all of them are one batch", "RenewRequest", "Outcomes", "", "200",
     handlers::renew},
    {"POST", "/v1/leases/release", Role::agent, "release_leases", "Give back leases of yours",
     "ReleaseRequest", "Outcomes", "", "200", handlers::release},
    {"POST", "/v1/leases/upgrade", Role::agent, "upgrade_leases", "Shared to exclusive, in place",
     "AcquireRequest", "AcquireAnswer", "", "200 202 404 409 410 422", handlers::upgrade, true},
    {"POST", "/v1/leases/downgrade", Role::agent, "downgrade_leases", "Exclusive to shared, in place",
     "ReleaseRequest", "Outcomes", "", "200", handlers::downgrade},
    {"POST", "/v1/leases/transfer", Role::agent, "transfer_leases", "Hand leases to another owner",
     "TransferRequest", "Outcomes", "", "200 422", handlers::transfer, true},
    {"POST", "/v1/leases/force-release", Role::op, "force_release_leases",
     "End other owners' leases, with a reason", "ForceReleaseRequest", "Outcomes", "", "200",
     handlers::force_release},
    {"GET", "/v1/leases/{id}", Role::read_only, "get_lease", "One lease; ETag is its token", "", "Lease", "",
     "200 404", handlers::get_lease},
    {"DELETE", "/v1/leases/{id}", Role::agent, "delete_lease", "Give one lease back; If-Match: its token", "",
     "Outcome", "agent_id session_id", "200 403 404 412", handlers::release_one},
    {"POST", "/v1/leases/{id}/renew", Role::agent, "renew_lease", "Renew one lease; If-Match: its token",
     "RenewOne", "Outcome", "", "200 403 404 409 410 412", handlers::renew_one},
    {"POST", "/v1/leases/{id}/release", Role::agent, "release_lease",
     "Give one lease back; If-Match: its token", "Caller", "Outcome", "", "200 403 404 412",
     handlers::release_one},
    {"POST", "/v1/leases/{id}/upgrade", Role::agent, "upgrade_lease",
     "Shared to exclusive, in place; If-Match: its token", "Caller", "AcquireAnswer", "",
     "200 404 409 410 412", handlers::upgrade_one, true},
    {"POST", "/v1/leases/{id}/downgrade", Role::agent, "downgrade_lease",
     "Exclusive to shared, in place; If-Match: its token", "Caller", "Outcome", "", "200 403 404 410 412",
     handlers::downgrade_one},
    {"POST", "/v1/leases/{id}/transfer", Role::agent, "transfer_lease",
     "Hand one lease to another owner; If-Match: its token", "TransferOne", "Outcome", "",
     "200 403 404 410 412", handlers::transfer_one, true},
    {"POST", "/v1/leases/{id}/force-release", Role::op, "force_release_lease",
     "End one lease, with a reason; If-Match: its token", "ForceReleaseOne", "Outcome", "", "200 404 412",
     handlers::force_release_one},
    {"POST", "/v1/tickets/{id}/poll", Role::agent, "poll_ticket", "How a waiting request stands", "Caller",
     "AcquireAnswer", "wait_ms", "200 202 403 404 408 409 410", handlers::poll},
    {"POST", "/v1/tickets/{id}/cancel", Role::agent, "cancel_ticket", "Give a waiting request up", "Caller",
     "", "", "204 403 404", handlers::cancel},
    {"POST", "/v1/check", Role::read_only, "check_token", "Is this token still the current grant's?",
     "CheckRequest", "CheckAnswer", "", "200", handlers::check},
    {"GET", "/v1/files", Role::read_only, "get_file", "Who holds one file, and who waits for it", "", "File",
     "path limit cursor", "200", handlers::file},
    {"GET", "/v1/agents", Role::read_only, "list_agents", "Who is at work, and with how much", "", "Agents",
     "", "200", handlers::agents},
    {"POST", "/v1/agents/{id}/turn", Role::agent, "report_turn", "An agent's turn began or stopped", "Turn",
     "Count", "", "200 403", handlers::turn},
    {"GET", "/v1/sessions/{id}", Role::read_only, "get_session", "What a session got and did not give back",
     "", "SessionPaths", "", "200", handlers::session},
    {"POST", "/v1/sessions/{id}/restore", Role::agent, "restore_session",
     "Ask again for all that a session had", "AcquireRequest", "RestoredSession", "", "200 403",
     handlers::restore_session, true},
    {"POST", "/v1/sessions/{id}/end", Role::agent, "end_session", "Give back all that a session has",
     "Caller", "Outcomes", "", "200 403", handlers::end_session},
    {"PUT", "/v1/rooms/{id}/busy", Role::op, "set_room_busy", "Have a room refuse everybody", "", "", "",
     "204", handlers::room_busy},
    {"DELETE", "/v1/rooms/{id}/busy", Role::op, "set_room_free", "Open a room again", "", "", "", "204",
     handlers::room_free},
    {"POST", "/v1/gate", Role::agent, "gate", "May these be written now?", "GateRequest", "GateAnswer", "",
     "200 403 409 410 422 423", handlers::gate, true},
    {"GET", "/v1/blockers", Role::read_only, "list_blockers", "Who is halted, and by whom", "", "Blockers",
     "", "200", handlers::blockers},
    {"POST", "/v1/blockers/{id}/instruction", Role::op, "instruct", "Say what a halted worker is to do",
     "Instruction", "Contention", "", "200 404", handlers::instruct, true},
    {"GET", "/v1/history", Role::read_only, "history", "What happened to leases", "", "Events",
     "path agent_id lease_id after since limit oldest", "200", handlers::history},
    {"GET", "/v1/events", Role::read_only, "events",
     "What happens, as it happens: Server-Sent Events, or one page with after=N", "", "Events",
     "after wait_ms", "200", handlers::events},
    {"GET", "/v1/config", Role::read_only, "list_settings", "The configuration that the store keeps", "",
     "Settings", "", "200", handlers::config},
    {"PUT", "/v1/config/{key}", Role::op, "put_setting", "Change a setting for everybody", "Setting", "", "",
     "204", handlers::put_setting},
    {"DELETE", "/v1/config/{key}", Role::op, "erase_setting", "Take a setting back", "", "", "", "204",
     handlers::erase_setting},
    {"GET", "/v1/pairs", Role::read_only, "pairs", "Which tests could come along with a file", "", "Pairs",
     "path", "200", handlers::pairs},
    {"POST", "/v1/sweep", Role::agent, "sweep", "Record what ended", "", "Swept", "dead_owners", "200",
     handlers::sweep},
    {"POST", "/v1/cleanup", Role::op, "cleanup", "Record what ended, and forget what nobody needs", "",
     "Swept", "", "200", handlers::cleanup},
    {"POST", "/v1/examine", Role::op, "examine", "Look for what is wrong in the store", "", "Defects",
     "repair", "200", handlers::examine},
    {"POST", "/lfs/{workspace}/locks", Role::agent, "lfs_lock", "git lfs lock", "LfsLockRequest", "LfsLock",
     "", "201 409", handlers::lfs_lock, true},
    {"GET", "/lfs/{workspace}/locks", Role::read_only, "lfs_list", "git lfs locks", "", "LfsLocks",
     "path id cursor limit", "200", handlers::lfs_list},
    {"POST", "/lfs/{workspace}/locks/verify", Role::read_only, "lfs_verify", "What a push must not touch",
     "LfsPage", "LfsVerified", "", "200", handlers::lfs_verify},
    {"POST", "/lfs/{workspace}/locks/{id}/unlock", Role::agent, "lfs_unlock", "git lfs unlock",
     "LfsUnlockRequest", "LfsLock", "", "200 403 404", handlers::lfs_unlock},
};

bool fits(std::string_view pattern, const std::vector<std::string>& segments,
          std::vector<std::string>& captured) {
  captured.clear();
  std::size_t at = 0;
  pattern.remove_prefix(1);
  while (!pattern.empty()) {
    const auto end = std::min(pattern.find('/'), pattern.size());
    const std::string_view part = pattern.substr(0, end);
    pattern.remove_prefix(std::min(end + 1, pattern.size()));
    if (at == segments.size()) return false;
    if (part.starts_with('{')) {
      if (segments[at].empty()) return false;
      captured.push_back(segments[at]);
    } else if (segments[at] != part) {
      return false;
    }
    ++at;
  }
  return at == segments.size();
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

bool heeds_if_match(const Route& route) {
  return route.pattern.starts_with("/v1/leases/{id}") && route.method != "GET";
}

Match match(const Request& request) {
  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  Match found;
  for (const Route& route : kRoutes) {
    std::vector<std::string> captured;
    if (!fits(route.pattern, request.segments, captured)) continue;
    if (route.method == method) return {&route, std::move(captured), {}};
    found.allowed += (found.allowed.empty() ? "" : ", ");
    found.allowed += route.method == "GET" ? "GET, HEAD" : route.method;
  }
  return found;
}

}  // namespace leasehold::daemon
