// Our groups in an agent's JSON settings: put in and taken out as text, so that every other byte stays.
//
//   {
//     "hooks": {
//       "PreToolUse": [
//         {"matcher": "Write|Edit", "hooks": [...]}
//       ]
//     }
//   }
//
// What is taken out is exactly what was put in, with nothing to remember in between. An object or a list that
// we had to make starts with a line break; in an empty one that was there, ours stands directly behind the
// bracket; in an empty file, a blank behind the brace; in a file of ours, the version stands behind the
// hooks. So the text itself tells what it was before.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "init/agent_hooks.h"
#include "leasehold/result.h"

namespace leasehold {

// Nothing: there is no file.
using FileText = std::optional<std::string>;

// The settings with these groups and no others of ours; unchanged if they are as they should be.
// Errors: invalid_argument, beginning with the line and a colon: it is no JSON, or "hooks" is not what the
// agent would take.
Result<std::string> with_groups(const FileText& text, HookHost host, std::span<const HookGroup> groups);

// The settings without ours. Nothing: they held nothing else, and the file was ours. Errors: the same.
Result<FileText> without_groups(const FileText& text, HookHost host);

// Whether all of these groups are there, and no others of ours. False as well for what is no JSON.
bool has_groups(const FileText& text, HookHost host, std::span<const HookGroup> groups);

}  // namespace leasehold
