// One request and its response, on connections that are kept for the next.
#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "net/wire.h"

namespace leasehold::http {

struct Call {
  std::string_view method = "GET";
  std::string target;  // Path and query, encoded.
  std::string body;
  Duration patience = std::chrono::seconds(10);
  int cancelled = -1;  // Becomes readable when the caller gives up.
};

struct Reply {
  int status = 0;
  boost::json::value document;  // Null: no body.
  bool cancelled = false;       // The caller gave up; there is no answer.
};

// Text as it may stand in a target.
std::string encoded(std::string_view text);

// Headers of every request; empty: none.
struct Credentials {
  std::string token;              // Authorization: Bearer.
  std::string settings;           // Lease-Settings: only a server with the same ones may answer.
  bool is_agent_guessed = false;  // Lease-Agent: guessed. The token says better who it is.
};

// Thread-safe.
class Server {
 public:
  // Error: config_error.
  static Result<std::unique_ptr<Server>> at(const std::string& url, const Credentials& credentials);

  // Errors: unavailable (it was not reached; nothing was done), outcome_unknown (no answer came), corrupt
  // (the answer cannot be read).
  Result<Reply> ask(const Call& call);

  const std::string& shown() const { return shown_; }
  bool has_token() const { return has_token_; }

 private:
  Result<std::unique_ptr<net::Wire>> connection(net::Deadline deadline);
  void keep(std::unique_ptr<net::Wire> wire);
  // No answer of the server's came. Where something may have been done, that is not known.
  std::unexpected<Error> unanswered(const Call& call, std::string_view why, std::string_view next) const;

  net::Endpoint endpoint_;
  std::string head_;  // Headers that every request has.
  std::string shown_;
  bool has_token_ = false;

  std::mutex mutex_;  // Guards what follows.
  std::vector<std::unique_ptr<net::Wire>> idle_;
};

}  // namespace leasehold::http
