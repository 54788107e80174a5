// Paths as shells see them: text.
#pragma once

#include <string>
#include <string_view>

namespace leasehold::shell {

// `path` as seen from `folder`; without "." and doubled slashes. ".." stays, as a link may be before it.
std::string placed(std::string_view folder, std::string_view path);

// The same, and ".." takes the folder before it, as cd does.
std::string simplified(std::string_view path);

// The last name of a path: "b" of "a/b/".
std::string_view last_name(std::string_view path);

}  // namespace leasehold::shell
