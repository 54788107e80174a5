#include "daemon/places.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "open/credentials.h"
#include "open/served_socket.h"
#include "util/variables.h"

namespace leasehold::daemon {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Empty: neither names a folder. One below the root would be everybody's.
std::string users_folder(const char* name, const char* below_home) {
  if (std::string folder = variable(name); folder.starts_with('/')) return folder;
  const std::string home = variable("HOME");
  return home.starts_with('/') ? home + below_home : "";
}

}  // namespace

Result<std::string> token_file() {
  if (std::string file = named_token_file(own_variable); !file.empty()) return file;
  const std::string config = users_folder("XDG_CONFIG_HOME", "/.config");
  if (config.empty())
    return fail(Code::config_error,
                "There is no place for tokens: HOME is not set. Set it, or name a file with LEASE_TOKENS.");
  return config + "/leasehold/tokens.json";
}

Result<std::string> memory_file(const std::string& store_url) {
  std::string folder = variable("STATE_DIRECTORY");
  if (!folder.starts_with('/')) {
    folder = users_folder("XDG_STATE_HOME", "/.local/state");
    if (folder.empty())
      return fail(Code::config_error,
                  "There is no place to note what the store had: HOME is not set. Set it, or name a folder "
                  "with STATE_DIRECTORY.");
    folder += "/leasehold";
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
