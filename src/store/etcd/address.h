// Where an etcd cluster is and how to talk to it, as a URL says it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold::etcd {

struct Address {
  std::vector<std::string> endpoints;  // host:port, at least one.
  std::string prefix = "leasehold";    // All our keys begin with it and a slash.
  std::string user;
  std::string password;

  bool tls = false;
  std::string ca_file;      // Empty: the system's.
  std::string certificate;  // The client's own, with its key; empty: none.
  std::string key;
  std::string server_name;  // Must be in the servers' certificates; empty: each one's host.

  std::optional<Duration> timeout;
  std::optional<int> max_txn_ops;

  // For messages: without user and password.
  std::string shown() const;

  bool operator==(const Address&) const = default;
};

// etcd://[user:password@]host[:port][,host[:port]...][/prefix][?...]
// etcds://...                                   the same over TLS
//
// Behind the question mark: user, password, ca, cert, key, server_name, timeout_ms, max_txn_ops. Everything
// may be percent-encoded.
//
// Errors: config_error.
Result<Address> parse_url(std::string_view url);

}  // namespace leasehold::etcd
