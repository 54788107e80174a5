// Which files git has in its index.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace leasehold::shell {

// From the text of .git/index, versions 2 to 4. Nothing: it is none, or one that does not tell all (a sparse
// or a split one, or one of longer hashes).
std::optional<std::set<std::string, std::less<>>> paths_in_index(std::string_view index);

}  // namespace leasehold::shell
