#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "mcp/arguments.h"
#include "util/utf8.h"

namespace leasehold::mcp {
namespace {

struct Asked {
  Named named;
  std::string to;
  std::optional<std::string> to_session;
  std::string note;
};

Result<Asked> read(const json::value& arguments) {
  return wire::reading<Asked>([&]() -> Result<Asked> {
    const wire::Reader reader(arguments);
    Asked asked = {.named = read_named(reader)};
    reader.get("to", asked.to);
    reader.get("to_session", asked.to_session);
    reader.get("note", asked.note);
    reader.expect_no_others();
    if (asked.to.empty())
      return fail(Code::invalid_argument, "Who gets the leases? Give to: an agent's name.");
    return asked;
  });
}

// Which session of the agent is meant where nobody says: the only one there is, or that of the giver, which
// a host shares with its subagents.
Result<std::string> session_of(const std::string& agent, const Board& board, const Caller& caller,
                               bool is_alone) {
  const Owner& giver = caller.holder.owner;
  std::set<std::string> sessions;
  for (const BoardRow& row : board.rows) {
    const Owner& owner = row.lease.holder.owner;
    if (row.live && owner.agent_id == agent && owner != giver) sessions.insert(owner.session_id);
  }
  if (sessions.contains(giver.session_id) || (sessions.empty() && !is_alone)) return giver.session_id;
  if (sessions.size() == 1) return *sessions.begin();
  if (sessions.empty()) {
    return fail(Code::invalid_argument,
                fmt::format("{} holds nothing and waits for nothing, so which session it is cannot be told. "
                            "Give to_session: it finds its own with lease_status, under you.",
                            in_sentence(agent)));
  }
  return fail(Code::invalid_argument, fmt::format("{} has several sessions. Give to_session, one of: {}.",
                                                  in_sentence(agent), fmt::join(sessions, ", ")));
}

// Who gets it is somebody else, wherever that one runs. What an agent holds while it works shows its process;
// without that only time and its own renewals keep what it gets, until it asks for it.
Holder receiver(Owner owner, const Board& board) {
  Holder found = {.owner = std::move(owner)};
  for (const BoardRow& row : board.rows) {
    const Holder& holder = row.lease.holder;
    const bool shows = row.live && row.lease.attended && row.verdict.liveness == Liveness::alive;
    if (!shows || holder.owner != found.owner) continue;
    found.process = holder.process;
    found.host = holder.host;
  }
  return found;
}

}  // namespace

Result<ToolAnswer> transfer_tool(const ToolCall& call) {
  const auto asked = read(call.arguments);
  if (!asked) return fail(asked.error());
  const auto workspace = call.desk.workspace(Desk::For::looking);
  if (!workspace) return fail(workspace.error());
  auto which = selection(asked->named, call.desk, **workspace);
  if (!which) return fail(which.error());
  const auto client = (*workspace)->client();
  const Caller caller = call.desk.caller(call.peer);
  const auto board = client->board({.agent_id = asked->to});
  if (!board) return fail(board.error());
  auto session = asked->to_session ? Result<std::string>(*asked->to_session)
                                   : session_of(asked->to, *board, caller, call.desk.is_alone(caller));
  if (!session) return fail(session.error());
  const auto moved = client->transfer({.caller = caller,
                                       .which = *std::move(which),
                                       .to = receiver({asked->to, *std::move(session)}, *board),
                                       .note = asked->note});
  if (!moved) return fail(moved.error());
  return outcomes_answer(*client, *moved);
}

}  // namespace leasehold::mcp
