// Paths as text: nothing here looks at a disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold {

// Takes the next segment off the front of `rest`; "//" and leading or trailing slashes separate nothing.
// Nothing: no segment is left.
std::optional<std::string_view> next_segment(std::string_view& rest);

// `folder`/`name`, also where `folder` is "/".
std::string join(std::string_view folder, std::string_view name);

// The folder that holds a normalised absolute path: "/a/b" -> "/a", "/a" -> "/", "/" -> "/".
std::string_view parent_of(std::string_view path);

// What is left of `path` below `root`, starting with a slash: ("/r/a", "/r") -> "/a", ("/r", "/r") -> "/".
// Nothing: it is not inside. Both are absolute and `root` is normalised.
std::optional<std::string_view> below(std::string_view path, std::string_view root);

}  // namespace leasehold
