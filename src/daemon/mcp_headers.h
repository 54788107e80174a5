// What requests of the Model Context Protocol say in headers.
#pragma once

#include <optional>

#include "daemon/message.h"
#include "mcp/server.h"

namespace leasehold::daemon {

// In the era without a handshake headers repeat parts of the message, for those on the way who do not read
// it. Whoever trusted a header that says something else would be misled. Nothing: all is as it should be.
std::optional<mcp::Fault> header_mismatch(const Request& request, const mcp::Message& message);

// Whether the client takes Server-Sent Events.
bool takes_streams(const Request& request);

}  // namespace leasehold::daemon
