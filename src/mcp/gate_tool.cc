#include "mcp/arguments.h"
#include "mcp/progress.h"
#include "wire/gate_json.h"

namespace leasehold::mcp {
namespace {

struct Asked {
  std::vector<std::string> paths;
  bool read = false;
  std::optional<Duration> wait;
  std::string reason;
};

Result<Asked> read(const json::value& arguments) {
  return wire::reading<Asked>([&]() -> Result<Asked> {
    const wire::Reader reader(arguments);
    Asked asked;
    reader.get("paths", asked.paths);
    reader.get("read", asked.read);
    reader.get("reason", asked.reason);
    asked.wait = seconds_at(reader, "wait_seconds", kWaitMax);
    reader.expect_no_others();
    if (asked.paths.empty()) return fail(Code::invalid_argument, "Which files? Give paths.");
    return asked;
  });
}

// Not ours to guard.
ToolAnswer let_through() { return {.document = {{"decision", "allowed"}, {"leases", json::array()}}}; }

}  // namespace

Result<ToolAnswer> gate_tool(const ToolCall& call) {
  const auto asked = read(call.arguments);
  if (!asked) return fail(asked.error());
  const auto workspace = call.desk.workspace(Desk::For::gating);
  if (!workspace && workspace.error().code == Code::not_found) return let_through();
  if (!workspace) return fail(workspace.error());

  const PathOptions options = {.cwd = call.desk.place(), .pairs = !asked->read};
  std::vector<AskedPath> inside;
  for (const std::string& path : asked->paths) {
    const auto key = (*workspace)->key_if_inside(path, options);
    if (!key) return fail(key.error());
    if (*key) inside.push_back({.path = path});
  }
  if (inside.empty()) return let_through();
  auto wanted = (*workspace)->wanted(inside, options);
  if (!wanted) return fail(wanted.error());
  GateRequest request = {.read = asked->read};
  request.wanted.paths = *std::move(wanted);
  request.wanted.caller = call.desk.caller(call.peer);
  request.wanted.trace = call.desk.trace(call.peer);
  request.wanted.reason = asked->reason;
  request.wanted.attended = true;

  const auto client = (*workspace)->client();
  const Progress progress(call, asked->wait.value_or(Duration::zero()));
  const auto decided =
      asked->wait ? client->gate_and_wait(request, *asked->wait, {}, call.cancelled) : client->gate(request);
  if (!decided) return fail(decided.error());
  ToolAnswer answer = {.document = gate_json(*decided)};
  if (const auto* allowed = std::get_if<Allowed>(&decided->decision)) {
    if (allowed->granted) answer.granted = call.desk.note_granted(allowed->leases);
  } else {
    answer.is_error = true;
  }
  return answer;
}

}  // namespace leasehold::mcp
