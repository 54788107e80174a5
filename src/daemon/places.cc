#include "daemon/places.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
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

std::string memory_file(const std::string& store_url) {
  std::string folder = variable("STATE_DIRECTORY");
  if (!folder.starts_with('/')) {
    const std::string state = variable("XDG_STATE_HOME");
    folder = (state.starts_with('/') ? state : variable("HOME") + "/.local/state") + "/leasehold";
  }
  // The URL may have a password in it, so a name made of it stands for it (FNV-1a).
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : store_url) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{}/served-{:016x}.json", folder, hash);
}

std::string default_socket(const std::string& store_url) {
  if (std::string socket = served_socket(store_url); !socket.empty()) return socket;
  const std::string runtime = variable("XDG_RUNTIME_DIR");
  return (runtime.starts_with('/') ? runtime : fmt::format("/tmp/leasehold-{}", ::geteuid())) +
         "/leasehold/socket";
}

}  // namespace leasehold::daemon
