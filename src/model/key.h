// Keys: what leases are held on. One spelling for each thing, so that two agents who mean the same file meet.
//
//   /src/a.ts     a file or folder; "/" is the workspace root
//   port:3000     anything else: <kind>:<name>
//
// A path key starts with "/", has no ".", "..", "//", backslash or NUL, and no slash at its end (but "/"
// itself).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold {

// Linux's PATH_MAX and NAME_MAX: what is longer cannot be opened anyway.
inline constexpr std::size_t kPathBytesMax = 4096;
inline constexpr std::size_t kNameBytesMax = 255;

// So many names one call may have: paths, or ids of leases.
inline constexpr std::size_t kNamesMax = 1'000;

// What another process sent us, as a key. Purely textual: a server does not see its client's disk, and the
// client has resolved links already.
//
// Takes /src/a, file:/src/a and <kind>:<name>. "." and "//" vanish, ".." goes up, a backslash separates like
// a slash. Globs pass: where the file lies was for the client to see. The key of a key is that key.
//
// Errors: invalid_path.
Result<std::string> key_from_wire(std::string_view text);

// Whether this reads as a resource that is not a file. The kind is [A-Za-z][A-Za-z0-9_+.-]+, so that
// neither C:\x nor a/b:c is one; `file` is kept for paths. The name may be any UTF-8 without control
// characters.
bool is_resource(std::string_view text);
// The same with a name that none can have: nothing, or with control characters.
bool is_unnamed_resource(std::string_view text);

// The part behind `file:`, a path from the workspace root; empty if `text` does not start with `file:`.
std::string_view path_of_file_key(std::string_view text);

// Refuses what no path may be, on a disk or on the wire: empty, too long, with a NUL, not UTF-8.
Result<void> check_path_text(std::string_view path);

// A path from the root, as a key. `shown` is how the user wrote it, for the error.
Result<std::string> path_key(std::string_view path, std::string_view shown);

}  // namespace leasehold
