// The client of a daemon: every call of Client over HTTP (docs/api.md).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "leasehold/client.h"

namespace leasehold {

struct HttpOptions {
  std::string workspace;
  std::string profile;  // Empty: the server's.
  std::string token;    // Bearer; empty: none.
  // What is asked for where a request does not say. Nothing: what the server has.
  std::optional<Duration> ttl = {};
  std::optional<int> max_renewals = {};
  std::optional<Duration> wait_max = {};  // And no request waits longer.
  // Not empty: a server with other settings is not to answer (Configuration::fingerprint()).
  std::string settings = {};
  bool is_agent_guessed = false;  // The agent of a token counts, if it is one agent's.
  Duration patience =
      std::chrono::seconds(10);  // How long an answer may take, besides waits that are asked for.
};

// What only a server has, besides the calls of a client. Thread-safe.
class HttpClient : public Client {
 public:
  virtual Result<std::vector<Defect>> examine(bool repair) = 0;
  virtual Result<void> set_room_busy(const std::string& room, bool busy) = 0;
};

// Connects at the first call:
//
//   http://HOST[:PORT], https://HOST[:PORT], http+unix:/PATH/OF/SOCKET
//   ?ca=FILE&cert=FILE&key=FILE&server_name=NAME   for https
//
// Error: config_error.
Result<std::shared_ptr<HttpClient>> open_http_client(const std::string& url, HttpOptions options);

}  // namespace leasehold
