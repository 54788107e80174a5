#include "daemon/places.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "open/served_socket.h"

namespace leasehold::daemon {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string token_file() {
  if (std::string file = variable("LEASE_TOKENS"); !file.empty()) return file;
  const std::string config = variable("XDG_CONFIG_HOME");
  return (config.starts_with('/') ? config : variable("HOME") + "/.config") + "/leasehold/tokens.json";
}

std::string default_socket(const std::string& store_url) {
  if (std::string socket = served_socket(store_url); !socket.empty()) return socket;
  const std::string runtime = variable("XDG_RUNTIME_DIR");
  return (runtime.starts_with('/') ? runtime : fmt::format("/tmp/leasehold-{}", ::geteuid())) +
         "/leasehold/socket";
}

}  // namespace leasehold::daemon
