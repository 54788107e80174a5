// Requests and responses as routes see them: no socket, no parser.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/error.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold::daemon {

enum class Role { read_only, agent, op };  // Each may do what those before it may.
std::string_view word(Role role);
std::optional<Role> role_named(std::string_view name);

// Who is at the other end, as far as the connection and its credential prove it.
struct Principal {
  Role role = Role::agent;
  std::string agent_id;   // The only agent it may act for; empty: any.
  bool is_local = false;  // A process of this machine, seen by the kernel: what it says of processes counts.
  std::string name;       // For logs: "uid 1000", "token ci".
  std::optional<WallTime> until = {};  // When its credential is over; none: never.

  bool is_one_agents() const { return !agent_id.empty() && role != Role::op; }
  // Its agent, or one that works for it: a subagent is called AGENT/NAME.
  bool is_for(std::string_view agent) const {
    return agent.starts_with(agent_id) && (agent.size() == agent_id.size() || agent[agent_id.size()] == '/');
  }
};

struct Request {
  std::string method;
  std::string path;                               // Decoded, without the query.
  std::vector<std::string> segments;              // Of the path, each decoded.
  std::multimap<std::string, std::string> query;  // Decoded.
  std::map<std::string, std::string> headers;     // Names in lower case.
  std::string body;
  Principal principal;

  std::string_view header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
  std::optional<std::string> parameter(const std::string& name) const {
    const auto found = query.find(name);
    return found == query.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<std::string> parameters(const std::string& name) const {
    std::vector<std::string> all;
    for (auto [at, end] = query.equal_range(name); at != end; ++at) all.push_back(at->second);
    return all;
  }
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// Splits a request's target. Error: invalid_argument (an escape that is none, a NUL).
Result<void> read_target(std::string_view target, Request& request);

Response json_response(int status, const boost::json::object& document);

inline constexpr std::string_view kProblemType = "application/problem+json";

// RFC 9457, with our code. `members` are added.
Response problem(const Error& error, boost::json::object members = {});
// For what HTTP itself has words for and our codes have not: 401, 404 of a route, 405, 413, ...
Response problem(int status, std::string_view code, std::string_view message);

}  // namespace leasehold::daemon
