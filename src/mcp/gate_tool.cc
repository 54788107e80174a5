#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "engine/ownership.h"
#include "mcp/arguments.h"
#include "mcp/progress.h"
#include "model/scope.h"
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

// What the caller leased for a certain time is its own, and a write does not make that longer: such paths,
// and the tests that would come along with them, are taken out of what the gate is asked.
Result<GateAnswer> take_timed(std::vector<WantedPath>& wanted, const ToolCall& call, const Caller& caller,
                              Client& client) {
  Listing listing;
  for (const WantedPath& one : wanted) listing.paths.push_back(one.path);
  const auto board = client.board(listing);
  if (!board) return fail(board.error());
  Allowed own;
  std::set<std::string> taken;
  for (const BoardRow& row : board->rows) {
    const Lease& lease = row.lease;
    if (!row.live || lease.status != Status::active || lease.mode != Mode::exclusive) continue;
    if (!call.desk.is_timed(lease.id) || !owns(caller, lease.holder.owner)) continue;
    own.leases.push_back(lease);
    for (const WantedPath& one : wanted) {
      if (one.requested && covers(lease.scope(), one.scope())) taken.insert(one.path);
    }
  }
  std::erase_if(wanted, [&](const WantedPath& one) {
    return one.requested ? taken.contains(one.path)
                         : std::ranges::all_of(one.paired_with, [&](const std::string& source) {
                             return taken.contains(source);
                           });
  });
  return GateAnswer{std::move(own), board->now, board->wall, {}};
}

Result<GateAnswer> decide(Client& client, const GateRequest& request, const std::optional<Duration>& wait,
                          const ToolCall& call) {
  if (!wait) return client.gate(request);
  const Progress progress(call, *wait);
  return client.gate_and_wait(request, *wait, {}, call.cancelled);
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
  const auto client = (*workspace)->client();
  GateRequest request = {.read = asked->read};
  request.wanted.caller = call.desk.caller(call.peer);
  request.wanted.trace = call.desk.trace(call.peer);
  request.wanted.reason = asked->reason;
  request.wanted.attended = true;
  Result<GateAnswer> decided;
  if (!asked->read && call.desk.has_timed())
    decided = take_timed(*wanted, call, request.wanted.caller, *client);
  if (!decided) return fail(decided.error());
  if (!wanted->empty()) {
    request.wanted.paths = *std::move(wanted);
    decided = decide(*client, request, asked->wait, call);
    if (!decided) return fail(decided.error());
  }

  ToolAnswer answer = {.document = gate_json(*decided)};
  if (const auto* allowed = std::get_if<Allowed>(&decided->decision)) {
    if (!sorted->outside.empty()) answer.document["message"] = not_checked(sorted->outside);
    answer.told = call.desk.note_granted(*allowed);
  } else {
    answer.is_error = true;
  }
  return answer;
}

}  // namespace leasehold::mcp
