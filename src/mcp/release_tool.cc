#include "mcp/arguments.h"

namespace leasehold::mcp {

Result<ToolAnswer> release_tool(const ToolCall& call) {
  const auto named = wire::reading<Named>([&]() -> Result<Named> {
    const wire::Reader reader(call.arguments);
    Named read = read_named(reader);
    reader.expect_no_others();
    return read;
  });
  if (!named) return fail(named.error());
  const auto workspace = call.desk.workspace(Desk::For::looking);
  // Nothing was ever leased here, and so nothing is left to give back.
  if (!workspace && workspace.error().code == Code::not_found && named->all) {
    return ToolAnswer{.document = {{"outcomes", json::array()}}};
  }
  if (!workspace) return fail(workspace.error());
  auto which = selection(*named, call.desk, **workspace);
  if (!which) return fail(which.error());
  const auto client = (*workspace)->client();
  const auto released = client->release({.caller = call.desk.caller(call.peer), .which = *std::move(which)});
  if (!released) return fail(released.error());
  return outcomes_answer(*client, *released);
}

}  // namespace leasehold::mcp
