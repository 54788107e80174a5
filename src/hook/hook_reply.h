// What hosts are answered, in the dialect of each.
#pragma once

#include <string>
#include <string_view>

#include "hook/hook_event.h"

namespace leasehold {

struct HookAnswer {
  std::string output;     // For standard output.
  std::string complaint;  // For standard error.
  int exit_status = 0;
  std::string reason;   // Why it is denied, as in the above; empty: it is not.
  std::string problem;  // For a log, if there was one; the agent does not need it.

  bool denies() const { return !reason.empty(); }
};

// Keeps a tool from running and tells the model why.
HookAnswer denial(HookHost host, std::string_view event_name, std::string_view reason);

// Lets it go on: silence, where the host takes that for an answer.
HookAnswer allowance(HookHost host, HookMoment moment);

// Whether the model can be told something at this moment, be it allowed what it is about to do.
bool can_tell(HookHost host, HookMoment moment);

// Tells the model something, at a moment when it can be told.
HookAnswer remark(HookHost host, std::string_view event_name, std::string_view text);

}  // namespace leasehold
