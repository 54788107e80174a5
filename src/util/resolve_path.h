// Where a path really leads: symbolic links followed as the kernel follows them.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <system_error>

namespace leasehold {

struct ResolvedPath {
  std::string path;  // Absolute, without links, "." or "..".
  bool exists = false;

  bool operator==(const ResolvedPath&) const = default;
};

// Follows `path` from the folder `base`, one segment at a time, so that ".." after a link leaves the link's
// target and not the folder the link stands in. Unlike realpath(3) it does not stop at what is missing: from
// there on the path is text, and a dangling link yields the name that writing through it would create.
//
// `base` must be resolved itself (or "/"); it is not looked at, so a base of many segments costs nothing. One
// readlink(2) per segment of `path` that exists.
//
// Errors: too_many_symbolic_link_levels, filename_too_long, permission_denied, and whatever else the system
// says. Being missing is not an error.
std::expected<ResolvedPath, std::errc> resolve_path(std::string_view base, std::string_view path);

}  // namespace leasehold
