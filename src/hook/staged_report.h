// What a host would report: for whoever plays one, in rehearsals and tests.
#pragma once

#include <string>
#include <string_view>

#include "hook/hook_host.h"

namespace leasehold {

struct StagedAgent {
  HookHost host{};
  std::string session;
  std::string root;      // Where it was started.
  std::string subagent;  // Empty: its main agent. Only some hosts tell.
};

// By which event and tool a host reports a write.
struct StagedTool {
  std::string_view event;
  std::string_view name;  // Empty: the event tells.
};
StagedTool tool_that_writes(HookHost host);

// Before it writes this file (absolute), with the tool that its host has for it.
std::string report_of_write(const StagedAgent& agent, const std::string& file);
// Before its shell runs this line.
std::string report_of_command(const StagedAgent& agent, const std::string& line);
// After it did.
std::string report_after_write(const StagedAgent& agent, const std::string& file);
std::string report_after_command(const StagedAgent& agent, const std::string& line);

}  // namespace leasehold
