#include "open/served_socket.h"

#include <sys/stat.h>
#include <unistd.h>

#include "open/stores.h"
#include "util/path_text.h"
#include "util/percent.h"

namespace leasehold {

std::string served_socket(const std::string& store_url) {
  const std::string folder = embedded_folder(store_url);
  return folder.empty() ? "" : folder + "/socket";
}

std::string own_served_socket(const std::string& store_url) {
  std::string path = served_socket(store_url);
  struct stat there{};
  // Whoever else may write into the folder must not be asked who holds what.
  const bool is_ours = !path.empty() && ::lstat(path.c_str(), &there) == 0 && S_ISSOCK(there.st_mode) &&
                       there.st_uid == ::geteuid();
  return is_ours ? path : "";
}

std::string served_folder(std::string_view server_url) {
  constexpr std::string_view kSocket = "http+unix:";
  if (!server_url.starts_with(kSocket)) return {};
  const std::string_view path = server_url.substr(kSocket.size(), server_url.find('?') - kSocket.size());
  return std::string(parent_of(percent_decoded(path).value_or("")));
}

}  // namespace leasehold
