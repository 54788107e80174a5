// Where a Redis server is and how to talk to it, as a URL says it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "net/endpoint.h"

namespace leasehold::redis {

struct Address : net::Endpoint {
  Address() { port = "6379"; }

  std::string user;
  std::string password;
  int database = 0;

  std::optional<Duration> connect_timeout;
  std::optional<Duration> command_timeout;
  std::optional<std::string> name_space;

  // For messages: without user and password.
  std::string shown() const;

  bool operator==(const Address&) const = default;
};

// redis://[[user]:password@]host[:port][/database][?...]
// rediss://...                                  the same over TLS
// redis+unix:///path/of/socket[?db=N&...]
//
// Behind the question mark: db, user, password, ca, cert, key, server_name, connect_timeout_ms,
// command_timeout_ms, namespace. Everything may be percent-encoded.
//
// Errors: config_error.
Result<Address> parse_url(std::string_view url);

}  // namespace leasehold::redis
