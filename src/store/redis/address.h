// Where a Redis server is and how to talk to it, as a URL says it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold::redis {

struct Address {
  std::string socket;  // Path of a Unix socket; empty: TCP.
  std::string host;
  std::string port = "6379";
  std::string user;
  std::string password;
  int database = 0;

  bool tls = false;
  std::string ca_file;      // Empty: the system's.
  std::string certificate;  // The client's own, with its key; empty: none.
  std::string key;
  std::string server_name;  // Must be in the server's certificate; empty: the host.

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
