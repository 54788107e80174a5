// A tool: what clients are told about it, and what it does.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "mcp/desk.h"

namespace leasehold::mcp {

// One call of a tool.
struct ToolCall {
  const json::value& arguments;  // Whatever the client sent.
  Desk& desk;
  Peer peer;
  int cancelled = -1;  // Readable once nobody wants the answer any more; -1: never.
  // Called about once a second while the call waits, with the seconds so far and the seconds at most. Empty:
  // nobody wants to know.
  std::function<void(double waited, double total)> progress = {};
};

struct ToolAnswer {
  json::object document;  // As `lease --json` says it.
  bool is_error = false;  // Refused: the document has the code, the evidence and the next step.
  Told told = {};
  bool is_concise = false;  // It has nothing that only programs ask for.
};

struct Tool {
  std::string_view name;
  std::string_view definition;  // As tools/list gives it; JSON.
  // Errors: also what somebody else holds is an answer; these are calls that could not be decided.
  Result<ToolAnswer> (*run)(const ToolCall& call);
};

// All there are, in the order of tools/list.
std::span<const Tool> tools();
const Tool* find_tool(std::string_view name);

// The result of tools/call: the document twice, for programs and as text for a model.
json::object call_tool(const Tool& tool, const ToolCall& call, Told& told);

// Whether a call with these arguments may take longer than the store does.
bool waits(const json::object& arguments);

// Each in a file of its own.
Result<ToolAnswer> acquire_tool(const ToolCall& call);
Result<ToolAnswer> gate_tool(const ToolCall& call);
Result<ToolAnswer> release_tool(const ToolCall& call);
Result<ToolAnswer> transfer_tool(const ToolCall& call);
Result<ToolAnswer> status_tool(const ToolCall& call);
Result<ToolAnswer> history_tool(const ToolCall& call);

}  // namespace leasehold::mcp
