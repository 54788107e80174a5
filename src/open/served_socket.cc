#include "open/served_socket.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

namespace leasehold {

std::string served_socket(const std::string& store_url) {
  constexpr std::string_view kEmbedded = "sqlite:";
  return store_url.starts_with(kEmbedded) ? store_url.substr(kEmbedded.size()) + "/socket" : "";
}

std::string own_served_socket(const std::string& store_url) {
  std::string path = served_socket(store_url);
  struct stat there{};
  // Whoever else may write into the folder must not be asked who holds what.
  const bool is_ours = !path.empty() && ::lstat(path.c_str(), &there) == 0 && S_ISSOCK(there.st_mode) &&
                       there.st_uid == ::geteuid();
  return is_ours ? path : "";
}

}  // namespace leasehold
