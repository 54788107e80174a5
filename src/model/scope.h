// Where scopes touch: the one place that knows how paths nest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "leasehold/lease.h"

namespace leasehold {

// True for a file or directory key, false for another resource (port:3000). Only paths nest.
bool is_path(std::string_view name);

// Everything above a path, nearest first: "/a/b" -> "/a", "/". Nothing for other resources.
std::vector<std::string> ancestors(std::string_view path);

// All keys below `path`, and only they, start with this: "/a" -> "/a/", "/" -> "/".
std::string prefix_below(std::string_view path);

// The paths are equal, or one scope is a subtree above the other's path.
bool overlaps(std::string_view path, bool subtree, std::string_view other, bool other_subtree);
// Scopes, and what else has one: leases, wanted paths.
template <class One = Scope, class Other = Scope>
bool overlaps(const One& one, const Other& other) {
  return overlaps(one.path, one.subtree, other.path, other.subtree);
}

// Whoever holds `outer` holds `inner` too.
bool covers(const Scope& outer, const Scope& inner);

}  // namespace leasehold
