#include "mcp/arguments.h"

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
  // Who gets it is somebody else, wherever that one runs: only time and its own renewals keep it.
  Holder receiver = {.owner = {asked->to, asked->to_session.value_or(caller.holder.owner.session_id)}};
  const auto moved = client->transfer(
      {.caller = caller, .which = *std::move(which), .to = std::move(receiver), .note = asked->note});
  if (!moved) return fail(moved.error());
  return outcomes_answer(*client, *moved);
}

}  // namespace leasehold::mcp
