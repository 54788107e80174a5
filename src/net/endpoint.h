#pragma once

#include <string>

namespace leasehold::net {

// Where a server is, and how to trust it.
struct Endpoint {
  std::string socket;  // Path of a Unix socket; empty: TCP.
  std::string host;
  std::string port;

  bool tls = false;
  std::string ca_file;      // Empty: the system's.
  std::string certificate;  // The client's own, with its key; empty: none.
  std::string key;
  std::string server_name;  // Must be in the server's certificate; empty: the host.

  bool operator==(const Endpoint&) const = default;
};

}  // namespace leasehold::net
