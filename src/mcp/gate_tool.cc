#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mcp/arguments.h"
#include "mcp/progress.h"
#include "util/utf8.h"
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
ToolAnswer let_through(std::string why) {
  return {.document = {{"decision", "allowed"}, {"leases", json::array()}, {"message", std::move(why)}}};
}

std::string not_checked(const std::vector<std::string>& outside) {
  return fmt::format("Not checked, because outside the workspace: {}.", fmt::join(outside, ", "));
}

// What was asked, by where it is.
struct Sorted {
  std::vector<AskedPath> inside;
  std::vector<std::string> outside;
};

Result<Sorted> sort(const std::vector<std::string>& paths, const ToolCall& call, OpenWorkspace& workspace) {
  Sorted sorted;
  for (const std::string& path : paths) {
    auto spelled = taken_back(path, call.desk, workspace);
    if (!spelled) return fail(spelled.error());
    const auto key = workspace.key_if_inside(*spelled, {.cwd = call.desk.place()});
    if (!key) return fail(key.error());
    if (*key) {
      sorted.inside.push_back({.path = *std::move(spelled)});
    } else {
      sorted.outside.push_back(in_quotes(path));
    }
  }
  return sorted;
}

}  // namespace

Result<ToolAnswer> gate_tool(const ToolCall& call) {
  const auto asked = read(call.arguments);
  if (!asked) return fail(asked.error());
  const auto workspace = call.desk.workspace(Desk::For::gating);
  if (!workspace && workspace.error().code == Code::not_found) {
    return let_through("Not checked: nothing is guarded here before the first lease_acquire.");
  }
  if (!workspace) return fail(workspace.error());

  const auto sorted = sort(asked->paths, call, **workspace);
  if (!sorted) return fail(sorted.error());
  if (sorted->inside.empty()) return let_through(not_checked(sorted->outside));
  auto wanted = (*workspace)->wanted(sorted->inside, {.cwd = call.desk.place(), .pairs = !asked->read});
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
    if (!sorted->outside.empty()) answer.document["message"] = not_checked(sorted->outside);
    call.desk.note_held(allowed->leases);
    if (allowed->granted) answer.granted = call.desk.note_granted(allowed->leases);
  } else {
    answer.is_error = true;
  }
  return answer;
}

}  // namespace leasehold::mcp
