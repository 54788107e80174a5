// Who is at the other end, as far as the protocol tells.
#pragma once

#include <string>

#include "mcp/json_rpc.h"

namespace leasehold::mcp {

struct Peer {
  std::string agent;       // By its name among host agents, where it is one: claude-code, codex, ...
  std::string session_id;  // The host's own, where it tells with a call; else empty.
  std::string trace;       // W3C traceparent of the call; else empty.
};

// From clientInfo, and from _meta of one request.
std::string agent_of(const json::object& client_info);
Peer peer_of(std::string agent, const json::object& meta);

}  // namespace leasehold::mcp
