// Where the daemon listens.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/result.h"
#include "util/descriptor.h"

namespace leasehold::daemon {

// An address that somebody wrote: unix:PATH or HOST:PORT ([::1]:7420).
struct Address {
  std::string text;  // For messages.
  std::string path;  // Of a Unix socket; empty: TCP.
  std::string host;
  std::string port;

  bool is_unix() const { return !path.empty(); }
};
Result<Address> read_address(std::string_view text);

// The file of a Unix socket that we made: gone with this.
class SocketFile {
 public:
  SocketFile() = default;
  explicit SocketFile(std::string path) : path_(std::move(path)) {}
  SocketFile(SocketFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  SocketFile& operator=(SocketFile&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~SocketFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Listener {
  Descriptor socket;
  bool is_unix = false;
  bool is_loopback = false;  // TCP that no other machine can reach.
  std::string text;          // As it came out: a port that was 0 is known now.
  SocketFile file;
};

// Opens it. A Unix socket that nobody listens to any more is replaced; mode 0600, its folder is made (0700).
// Errors: unavailable (in use, or not allowed), config_error.
Result<std::vector<Listener>> listen_on(const Address& address);

// Those that systemd passed us (sd_listen_fds(3)), and forgets the variables. Error: config_error.
Result<std::vector<Listener>> passed_listeners();

// Tells systemd, if it wants to know (sd_notify(3)): "READY=1", ...
void notify(std::string_view state);

}  // namespace leasehold::daemon
