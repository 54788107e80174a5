#include <algorithm>

#include "engine/ownership.h"
#include "mcp/arguments.h"
#include "mcp/concise.h"
#include "model/scope.h"

namespace leasehold::mcp {
namespace {

struct Asked {
  std::vector<std::string> paths;
  std::optional<std::string> agent;
};

// As somebody who wants to write it sees it: whoever waits for what it does not hold yet is ahead, too.
std::string_view state(const std::string& key, const Board& board, const Caller& caller) {
  bool is_own = false;
  bool is_waited_for = false;
  for (const BoardRow& row : board.rows) {
    if (!row.live || !overlaps({key, true}, row.lease.scope())) continue;
    const bool is_held = row.lease.status == Status::active;
    if (!owns(caller, row.lease.holder.owner)) {
      if (is_held) return "held";
      is_waited_for = true;
    } else if (is_held && covers(row.lease.scope(), {key})) {
      is_own = true;
    }
  }
  return is_own ? "yours" : is_waited_for ? "held" : "free";
}

json::object you(const Caller& caller) {
  return {{"agent_id", caller.holder.owner.agent_id}, {"session_id", caller.holder.owner.session_id}};
}

// Of a place where nothing was ever leased.
Result<ToolAnswer> nothing_held(const Asked& asked, const Desk& desk, const Caller& caller) {
  json::object document = {{"you", you(caller)}, {"leases", json::array()}};
  json::array paths;
  for (const std::string& path : asked.paths) {
    const auto key = key_without_store(path, desk);
    if (!key) return fail(key.error());
    paths.push_back({{"path", *key}, {"state", "free"}});
  }
  if (!paths.empty()) document["paths"] = std::move(paths);
  return ToolAnswer{.document = std::move(document)};
}

}  // namespace

Result<ToolAnswer> status_tool(const ToolCall& call) {
  const auto asked = wire::reading<Asked>([&]() -> Result<Asked> {
    const wire::Reader reader(call.arguments);
    Asked read;
    reader.get("paths", read.paths);
    reader.get("agent", read.agent);
    reader.expect_no_others();
    return read;
  });
  if (!asked) return fail(asked.error());
  const auto workspace = call.desk.workspace(Desk::For::looking);
  const Caller caller = call.desk.caller(call.peer);
  if (!workspace && workspace.error().code == Code::not_found) return nothing_held(*asked, call.desk, caller);
  if (!workspace) return fail(workspace.error());
  const auto wanted = keys(asked->paths, call.desk, **workspace);
  if (!wanted) return fail(wanted.error());
  const auto client = (*workspace)->client();
  const auto board = client->board({.paths = *wanted, .agent_id = asked->agent});
  if (!board) return fail(board.error());
  // Whoever is in the way counts, whomever else was asked about.
  const auto everybody = asked->agent && !wanted->empty() ? client->board({.paths = *wanted}) : board;
  if (!everybody) return fail(everybody.error());
  ToolAnswer answer = {.document = concise_board(*board), .is_concise = true};
  answer.document["you"] = you(caller);
  json::array paths;
  for (const std::string& key : *wanted)
    paths.push_back({{"path", key}, {"state", state(key, *everybody, caller)}});
  if (!paths.empty()) answer.document["paths"] = std::move(paths);
  return answer;
}

}  // namespace leasehold::mcp
