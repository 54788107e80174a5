// The Model Context Protocol over HTTP, at /mcp ("Streamable HTTP"; docs/mcp.md).
#pragma once

#include "daemon/server_state.h"

namespace leasehold::daemon {

asio::awaitable<void> respond_mcp(ServerState& server, const Request& request, int socket, Response& response,
                                  std::unique_ptr<Teller>& stream);

}  // namespace leasehold::daemon
