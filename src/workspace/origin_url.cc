#include "workspace/origin_url.h"

#include <algorithm>

#include "util/lower_case.h"
#include "util/path_text.h"

namespace leasehold {
namespace {

std::string_view without_suffixes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path.ends_with(".git") && path.size() > 4) path.remove_suffix(4);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

// host[:port], perhaps with user[:password]@ before it.
std::string host_of(std::string_view authority) {
  authority.remove_prefix(authority.rfind('@') + 1);  // npos + 1 is 0.
  if (authority.starts_with('[')) return lower_case(authority.substr(0, authority.find(']') + 1));
  return lower_case(authority.substr(0, authority.find(':')));
}

std::string network_origin(std::string_view authority, std::string_view path) {
  std::string origin = host_of(authority);
  const std::string folded = lower_case(without_suffixes(path));
  std::string_view rest = folded;
  while (const auto segment = next_segment(rest)) {
    origin += '/';
    origin += *segment;
  }
  return origin;
}

// Where the host ends in the short form, [user@]host:path. Nothing if this is a path: git takes a colon
// behind a slash for a part of the name.
std::size_t short_form_colon(std::string_view url) {
  const std::size_t bracket =
      url.starts_with('[') || url.find("@[") != std::string_view::npos ? url.find(']') : 0;
  const std::size_t colon = url.find(':', bracket == std::string_view::npos ? 0 : bracket);
  return colon < url.find('/') ? colon : std::string_view::npos;
}

}  // namespace

std::string normalised_origin(std::string_view url) {
  if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    const bool is_local = lower_case(url.substr(0, scheme)) == "file";
    url.remove_prefix(scheme + 3);
    if (is_local) return std::string(without_suffixes(url.substr(std::min(url.find('/'), url.size()))));
    url = url.substr(0, url.find_first_of("?#"));
    const std::size_t slash = std::min(url.find('/'), url.size());
    return network_origin(url.substr(0, slash), url.substr(slash));
  }
  if (const std::size_t colon = short_form_colon(url); colon != std::string_view::npos) {
    return network_origin(url.substr(0, colon), url.substr(colon + 1));
  }
  return std::string(without_suffixes(url));
}

}  // namespace leasehold
