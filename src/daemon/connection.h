#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "daemon/door.h"
#include "daemon/server_state.h"

namespace leasehold::daemon {

using Socket = asio::generic::stream_protocol::socket;

// Serves one connection to its end. `tls`: null for a plain one.
asio::awaitable<void> serve_connection(ServerState& server, Socket socket, Peer peer,
                                       std::shared_ptr<asio::ssl::context> tls);

// Cuts off those who wait and whose credential is over; or revoked, once other tokens count.
void turn_out(ServerState& server, bool tokens_changed);

}  // namespace leasehold::daemon
