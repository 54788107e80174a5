// Who may come in. The kernel says who is at the other end of a Unix socket; over TCP a token or a
// certificate does.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/message.h"

namespace leasehold::daemon {

// What is known of a connection before it said anything.
struct Peer {
  bool is_unix = false;
  bool is_loopback = false;
  std::int64_t uid = -1;    // Of the process at the other end of a Unix socket; -1: not known.
  std::string certificate;  // Common name of the client's certificate, checked; empty: none.
};

class Tokens;

class Door {
 public:
  struct Options {
    std::int64_t uid = 0;         // Whose daemon this is.
    std::set<std::string> hosts;  // What requests may be addressed to, in lower case, without port.
    bool open_to_loopback = false;
  };
  Door(Options options, std::shared_ptr<const Tokens> tokens);
  ~Door();

  void use(std::shared_ptr<const Tokens> tokens) { tokens_ = std::move(tokens); }

  // Who this is; or what to answer: 401, 403 or 421.
  std::expected<Principal, Response> admit(const Peer& peer, const Request& request) const;

 private:
  std::optional<Response> check_address(const Peer& peer, const Request& request) const;

  Options options_;
  std::shared_ptr<const Tokens> tokens_;
};

}  // namespace leasehold::daemon
