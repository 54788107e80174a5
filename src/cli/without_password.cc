#include "cli/without_password.h"

#include <algorithm>
#include <string_view>

namespace leasehold {

std::string without_password(std::string url) {
  const std::size_t scheme = url.find("://");
  // What stores take for user and password: a password may have any of ":/@" in it.
  const std::size_t at = url.rfind('@', std::min(url.find('?'), url.size()));
  if (scheme != std::string::npos && at != std::string::npos) {
    const std::size_t colon = url.find(':', scheme + 3);
    if (colon < at) url.replace(colon + 1, at - colon - 1, "***");
  }
  constexpr std::string_view kOption = "password=";
  if (const std::size_t option = url.find(kOption); option != std::string::npos) {
    const std::size_t begin = option + kOption.size();
    url.replace(begin, std::min(url.find('&', begin), url.size()) - begin, "***");
  }
  return url;
}

}  // namespace leasehold
