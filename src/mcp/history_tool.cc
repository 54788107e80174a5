#include "mcp/arguments.h"
#include "wire/answer_json.h"

namespace leasehold::mcp {
namespace {

struct Asked {
  std::optional<std::string> path;
  std::optional<std::string> agent;
  std::optional<double> minutes;
  std::size_t limit = 20;
};

Result<Asked> read(const json::value& arguments) {
  return wire::reading<Asked>([&]() -> Result<Asked> {
    const wire::Reader reader(arguments);
    Asked asked;
    reader.get("path", asked.path);
    reader.get("agent", asked.agent);
    reader.get("limit", asked.limit);
    if (const json::value* minutes = reader.find("minutes")) {
      const auto number = json::try_value_to<double>(*minutes);
      constexpr double kMinutesMax = 60.0 * 24 * 366;
      if (!number || !(*number >= 0) || *number > kMinutesMax) {
        return fail(Code::invalid_argument, "minutes has to be a number, at most a year.");
      }
      asked.minutes = *number;
    }
    reader.expect_no_others();
    constexpr std::size_t kEventsMax = 1000;
    if (asked.limit < 1 || asked.limit > kEventsMax) {
      return fail(Code::invalid_argument, "limit has to be a number from 1 to 1000.");
    }
    return asked;
  });
}

}  // namespace

Result<ToolAnswer> history_tool(const ToolCall& call) {
  const auto asked = read(call.arguments);
  if (!asked) return fail(asked.error());
  const auto workspace = call.desk.workspace(Desk::For::looking);
  // Nothing ever happened here.
  if (!workspace && workspace.error().code == Code::not_found) {
    return ToolAnswer{.document = {{"events", json::array()}}};
  }
  if (!workspace) return fail(workspace.error());
  const auto client = (*workspace)->client();
  HistoryQuery query = {.agent_id = asked->agent, .limit = asked->limit};
  if (asked->path) {
    auto found = keys({*asked->path}, call.desk, **workspace);
    if (!found) return fail(found.error());
    query.path = found->front();
  }
  if (asked->minutes) {
    // What people's clocks say, as the store has it.
    const auto now = moment(*client, query.path.value_or("/"));
    if (!now) return fail(now.error());
    query.since = now->wall - std::chrono::duration_cast<std::chrono::microseconds>(
                                  std::chrono::duration<double, std::ratio<60>>(*asked->minutes));
  }
  const auto events = client->history(query);
  if (!events) return fail(events.error());
  json::array all;
  for (const Event& event : *events) all.push_back(event_json(event));
  return ToolAnswer{.document = {{"events", std::move(all)}}};
}

}  // namespace leasehold::mcp
