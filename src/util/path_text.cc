#include "util/path_text.h"

namespace leasehold {

std::optional<std::string_view> next_segment(std::string_view& rest) {
  const std::size_t start = rest.find_first_not_of('/');
  if (start == std::string_view::npos) {
    rest = {};
    return std::nullopt;
  }
  rest.remove_prefix(start);
  const std::string_view segment = rest.substr(0, rest.find('/'));
  rest.remove_prefix(segment.size());
  return segment;
}

std::string join(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.ends_with('/')) path += '/';
  return path += name;
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string_view("/") : path.substr(0, slash);
}

std::optional<std::string_view> below(std::string_view path, std::string_view root) {
  if (root == "/") return path;
  if (!path.starts_with(root)) return std::nullopt;
  path.remove_prefix(root.size());
  if (path.empty()) return "/";
  if (path.front() != '/') return std::nullopt;
  return path;
}

}  // namespace leasehold
