// The texts are what a model pays for in every conversation: short, and no word twice. A test counts them.
#include <array>
#include <boost/json/serialize.hpp>

#include "mcp/concise.h"
#include "mcp/tool.h"
#include "mcp/wording.h"
#include "wire/answer_json.h"

namespace leasehold::mcp {
namespace {

constexpr std::array<Tool, 6> kTools = {{
    {"lease_acquire", R"({
"name": "lease_acquire",
"title": "Lease files",
"description": "Lease files before you change them, all or none; the tests of sources come along. Nobody else can change them until you release them or end. If refused: who holds them, and what to call next.",
"inputSchema": {
  "type": "object",
  "properties": {
    "paths": {"type": "array", "items": {"type": "string"}, "description": "Files; or KIND:NAME, as port:3000"},
    "subtrees": {"type": "array", "items": {"type": "string"}, "description": "Folders with all below"},
    "mode": {"enum": ["exclusive", "shared"]},
    "wait_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "description": "Queue so long if held"},
    "ttl_seconds": {"type": "number", "description": "Default: as long as you are active"},
    "pairs": {"type": "boolean", "description": "false: without tests"},
    "reason": {"type": "string", "description": "Others see it"}
  },
  "additionalProperties": false
},
"outputSchema": {
  "type": "object",
  "properties": {
    "decision": {"enum": ["granted", "refused"]},
    "leases": {"type": "array", "items": {"type": "object"}},
    "blocked": {"type": "array", "items": {"type": "object"}},
    "error": {"type": "object"},
    "next": {"type": "object"}
  }
},
"annotations": {"destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
})",
     acquire_tool},
    {"lease_release", R"({
"name": "lease_release",
"title": "Release leases",
"description": "Give your leases back when you are done. Name them in one way.",
"inputSchema": {
  "type": "object",
  "properties": {
    "paths": {"type": "array", "items": {"type": "string"}},
    "ids": {"type": "array", "items": {"type": "string"}},
    "all": {"type": "boolean"}
  },
  "additionalProperties": false
},
"outputSchema": {
  "type": "object",
  "properties": {"outcomes": {"type": "array", "items": {"type": "object"}}, "error": {"type": "object"}}
},
"annotations": {"destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
})",
     release_tool},
    {"lease_status", R"({
"name": "lease_status",
"title": "Who holds what",
"description": "The board: who holds and waits for what, whether they are alive. With paths: also whether each is free, yours or held. Changes nothing.",
"inputSchema": {
  "type": "object",
  "properties": {
    "paths": {"type": "array", "items": {"type": "string"}, "description": "Files or folders"},
    "agent": {"type": "string"}
  },
  "additionalProperties": false
},
"outputSchema": {
  "type": "object",
  "properties": {
    "you": {"type": "object"},
    "paths": {"type": "array", "items": {"type": "object"}},
    "leases": {"type": "array", "items": {"type": "object"}},
    "error": {"type": "object"}
  }
},
"annotations": {"readOnlyHint": true, "openWorldHint": false}
})",
     status_tool},
    {"lease_transfer", R"({
"name": "lease_transfer",
"title": "Hand leases over",
"description": "Hand your leases to another agent, which is told with your note.",
"inputSchema": {
  "type": "object",
  "properties": {
    "to": {"type": "string", "description": "Its agent_id"},
    "to_session": {"type": "string", "description": "If it has several"},
    "paths": {"type": "array", "items": {"type": "string"}},
    "ids": {"type": "array", "items": {"type": "string"}},
    "all": {"type": "boolean"},
    "note": {"type": "string"}
  },
  "required": ["to"],
  "additionalProperties": false
},
"outputSchema": {
  "type": "object",
  "properties": {"outcomes": {"type": "array", "items": {"type": "object"}}, "error": {"type": "object"}}
},
"annotations": {"destructiveHint": false, "openWorldHint": false}
})",
     transfer_tool},
    {"lease_gate", R"({
"name": "lease_gate",
"title": "May I write these?",
"description": "Ask right before a write: allowed (and leased), or denied with one retry at retry_at, not earlier. Denied again then: stop and report the blocker.",
"inputSchema": {
  "type": "object",
  "properties": {
    "paths": {"type": "array", "items": {"type": "string"}},
    "read": {"type": "boolean", "description": "Only to read"},
    "wait_seconds": {"type": "number", "minimum": 0, "maximum": 3600, "description": "Wait for the retry"},
    "reason": {"type": "string"}
  },
  "required": ["paths"],
  "additionalProperties": false
},
"outputSchema": {
  "type": "object",
  "properties": {
    "decision": {"enum": ["allowed", "granted", "denied"]},
    "code": {"type": "string"},
    "message": {"type": "string"},
    "retry_at": {"type": "string"},
    "contentions": {"type": "array", "items": {"type": "object"}},
    "error": {"type": "object"}
  }
},
"annotations": {"destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
})",
     gate_tool},
    {"lease_history", R"({
"name": "lease_history",
"title": "What happened to leases",
"description": "Changes of leases, oldest first.",
"inputSchema": {
  "type": "object",
  "properties": {
    "path": {"type": "string"},
    "agent": {"type": "string"},
    "minutes": {"type": "number", "description": "Not older"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "The newest so many; default 20"}
  },
  "additionalProperties": false
},
"outputSchema": {
  "type": "object",
  "properties": {"events": {"type": "array", "items": {"type": "object"}}, "error": {"type": "object"}}
},
"annotations": {"readOnlyHint": true, "openWorldHint": false}
})",
     history_tool},
}};

}  // namespace

std::span<const Tool> tools() { return kTools; }

const Tool* find_tool(std::string_view name) {
  for (const Tool& tool : kTools) {
    if (tool.name == name) return &tool;
  }
  return nullptr;
}

bool waits(const json::object& arguments) { return arguments.contains("wait_seconds"); }

json::object call_tool(const Tool& tool, const ToolCall& call, Told& told) {
  auto answered = tool.run(call);
  if (!answered) {
    json::object error = error_json(answered.error());
    error.erase("exit_code");
    answered = ToolAnswer{.document = {{"error", std::move(error)}}, .is_error = true};
  }
  told = std::move(answered->told);
  json::object document =
      answered->is_concise ? std::move(answered->document) : concise(std::move(answered->document));
  name_tools(document);
  json::array content = {{{"type", "text"}, {"text", json::serialize(document)}}};
  return {{"content", std::move(content)},
          {"structuredContent", std::move(document)},
          {"isError", answered->is_error}};
}

}  // namespace leasehold::mcp
