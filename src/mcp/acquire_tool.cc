#include "mcp/arguments.h"
#include "mcp/progress.h"
#include "wire/answer_json.h"

namespace leasehold::mcp {
namespace {

struct Asked {
  std::vector<AskedPath> paths;
  bool pairs = true;
  AcquireRequest request;  // But for its paths and caller.
};

Result<Asked> read(const json::value& arguments) {
  return wire::reading<Asked>([&]() -> Result<Asked> {
    const wire::Reader reader(arguments);
    Asked asked;
    std::vector<std::string> files;
    std::vector<std::string> folders;
    reader.get("paths", files);
    reader.get("subtrees", folders);
    reader.get_word("mode", asked.request.mode);
    reader.get("pairs", asked.pairs);
    reader.get("reason", asked.request.reason);
    asked.request.wait = seconds_at(reader, "wait_seconds", kWaitMax);
    constexpr Duration kLongest = std::chrono::years(1);
    asked.request.ttl = seconds_at(reader, "ttl_seconds", kLongest);
    reader.expect_no_others();
    for (std::string& file : files) asked.paths.push_back({std::move(file)});
    for (std::string& folder : folders) asked.paths.push_back({std::move(folder), true});
    if (asked.paths.empty()) return fail(Code::invalid_argument, "Which files? Give paths or subtrees.");
    return asked;
  });
}

Result<AcquireAnswer> acquire(Client& client, AcquireRequest request, const ToolCall& call) {
  if (request.wait == Duration::zero()) {
    request.wait.reset();
    return client.acquire(request);
  }
  const Progress progress(call, request.wait.value_or(Duration::zero()));
  return client.acquire_and_wait(request, call.cancelled);
}

// The same call once more, as one that waits.
json::object waiting(const json::value& arguments) {
  constexpr int kSecondsToWait = 300;
  json::object again = arguments.is_object() ? arguments.get_object() : json::object();
  if (const json::value* asked = again.if_contains("wait_seconds"); asked == nullptr || *asked == 0)
    again["wait_seconds"] = kSecondsToWait;
  return {{"tool", "lease_acquire"}, {"arguments", std::move(again)}};
}

}  // namespace

Result<ToolAnswer> acquire_tool(const ToolCall& call) {
  auto asked = read(call.arguments);
  if (!asked) return fail(asked.error());
  const auto workspace = call.desk.workspace(Desk::For::acquiring);
  if (!workspace) return fail(workspace.error());
  const auto paths = taken_back(std::move(asked->paths), call.desk, **workspace);
  if (!paths) return fail(paths.error());
  auto wanted = (*workspace)->wanted(*paths, {.cwd = call.desk.place(), .pairs = asked->pairs});
  if (!wanted) return fail(wanted.error());
  AcquireRequest& request = asked->request;
  request.paths = *std::move(wanted);
  request.caller = call.desk.caller(call.peer);
  request.trace = call.desk.trace(call.peer);
  if (request.wait) request.waiter = (*workspace)->own_process();
  // Who does not say how long keeps it for as long as the server is there to be asked.
  request.attended = !request.ttl;

  const auto client = (*workspace)->client();
  auto answered = acquire(*client, request, call);
  if (!answered) return fail(answered.error());
  ToolAnswer answer;
  const auto* const granted = std::get_if<Granted>(&answered->decision);
  if (granted != nullptr) {
    answer.told = call.desk.note_granted(*granted);
    call.desk.note_timed(granted->leases);
  }
  const auto at = granted != nullptr ? moment_of(*client, granted->leases.front())
                                     : moment(*client, request.paths.front().path);
  if (!at) return fail(at.error());
  auto* const refused = std::get_if<Refused>(&answered->decision);
  if (refused != nullptr) refused->next_command.clear();
  answer.document = acquire_json(*answered, *at);
  answer.is_error = refused != nullptr;
  if (refused != nullptr && (refused->code == Code::busy || refused->code == Code::timeout)) {
    answer.document["next"] = waiting(call.arguments);
  }
  return answer;
}

}  // namespace leasehold::mcp
