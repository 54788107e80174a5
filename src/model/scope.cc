#include "model/scope.h"

#include <algorithm>

namespace leasehold {
namespace {

bool is_below(std::string_view path, std::string_view directory) {
  if (!is_path(path) || path.size() <= directory.size() || !path.starts_with(directory)) return false;
  return directory == "/" || path[directory.size()] == '/';
}

}  // namespace

bool is_path(std::string_view name) { return name.starts_with('/'); }

std::vector<std::string> ancestors(std::string_view path) {
  std::vector<std::string> above;
  if (!is_path(path)) return above;
  while (path.size() > 1) {
    path = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
    above.emplace_back(path);
  }
  return above;
}

std::string prefix_below(std::string_view path) {
  std::string prefix(path);
  if (path != "/") prefix += '/';
  return prefix;
}

bool overlaps(std::string_view path, bool subtree, std::string_view other, bool other_subtree) {
  return path == other || (subtree && is_below(other, path)) || (other_subtree && is_below(path, other));
}

bool covers(const Scope& outer, const Scope& inner) {
  if (outer.path == inner.path) return outer.subtree || !inner.subtree;
  return outer.subtree && is_below(inner.path, outer.path);
}

}  // namespace leasehold
