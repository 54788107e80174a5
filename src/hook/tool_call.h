// What a tool of a coding agent is going to do to files, as far as its name and its arguments tell.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"

namespace leasehold {

enum class ToolKind { write, read, shell, other };

struct ToolCall {
  ToolKind kind = ToolKind::other;
  std::vector<std::string> paths;  // Of a write or read. Of a shell: those of a patch that it is given.
  std::string command;             // Of a shell.
  std::string folder;              // Where a shell runs, if its arguments say so.
};

// Hosts have names of their own for tools and arguments, and one name means the same with all of them; so one
// table serves, and a tool that another version or host names otherwise is still understood. With
// `may_be_unnamed`, one of an unknown name counts as a write if its arguments look like one.
// Error: invalid_argument: a tool that writes names no file. It may well know another way to say it, so it is
// not to be let through.
Result<ToolCall> tool_call(std::string_view tool, const boost::json::value& arguments,
                           bool may_be_unnamed = false);

}  // namespace leasehold
