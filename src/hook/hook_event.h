// What a coding agent's hook reports, whichever agent it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hook/hook_host.h"
#include "leasehold/result.h"

namespace leasehold {

enum class HookMoment {
  before_write,      // Files are about to be written.
  before_read,       // A file is about to be read.
  before_command,    // A shell is about to run `command`.
  after_write,       // Files were written,
  after_read,        // or read,
  after_command,     // or a shell ran `command`.
  turn_started,      // Somebody asked the agent to go on.
  turn_stopped,      // It is done for now.
  turn_failed,       // It cannot go on.
  subagent_stopped,  // One of its subagents is done.
  session_started,   // Or went on, or forgot what was said before.
  session_ended,
  other,  // Nothing to us.
};

struct HookEvent {
  HookMoment moment = HookMoment::other;
  HookHost host{};         // Who it is. Some read the hooks that others were given.
  std::string event_name;  // The host's own.
  std::string session_id;
  std::string subagent_id;  // Empty: the main agent.
  std::string cwd;
  std::vector<std::string> paths;  // As the host wrote them, but absolute or relative to `cwd`.
  std::string command;             // For a shell. It may hold a patch, whose files are in `paths`.
  std::string call_id;             // Of a tool's call, before and after it; empty: the host has none.
  std::string flaw;  // Why nobody can say whose this is or what it does; a sentence. Empty: one can.
};

// Whether the host waits for a yes or no.
bool is_gated(HookMoment moment);

// More than any tool call that a host would pass on.
inline constexpr std::size_t kPayloadBytesMax = std::size_t{64} << 20;

// Reads what a host writes to its hooks' standard input. Fields we do not know are passed over. What lacks
// something and asks for no answer is nothing to us.
// Error: invalid_argument, saying why it cannot be told which event it is.
Result<HookEvent> parse_hook(HookHost host, std::string_view payload);

}  // namespace leasehold
