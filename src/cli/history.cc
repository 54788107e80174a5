#include <boost/json/array.hpp>
#include <chrono>

#include "cli/call.h"
#include "cli/commands.h"
#include "cli/event_text.h"
#include "cli/timeline.h"
#include "cli/when.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

constexpr std::int64_t kEventsMax = 1'000'000;
constexpr std::int64_t kEventsShown = 100;

Result<std::optional<WallTime>> since_of(const Arguments& arguments) {
  const auto since = arguments.text("since");
  if (!since) return std::nullopt;
  const auto moment = parse_when(*since, "since");
  if (!moment) return fail(moment.error());
  return *moment;
}

Result<HistoryQuery> query_of(Call& call) {
  const Arguments& arguments = call.arguments();
  const bool timeline = arguments.has("timeline");
  const auto limit = arguments.number("limit", 0, kEventsMax);
  if (!limit) return fail(limit.error());
  HistoryQuery query = {.agent_id = arguments.text("agent"),
                        .limit = static_cast<std::size_t>(limit->value_or(timeline ? 0 : kEventsShown))};
  const auto since = since_of(arguments);
  if (!since) return fail(since.error());
  // What was held then began before; a timeline shows it too.
  if (!timeline) query.since = *since;
  return query;
}

Result<std::vector<Event>> events_asked_for(Call& call) {
  auto query = query_of(call);
  if (!query) return fail(query.error());
  const auto workspace = call.workspace();
  // Nothing ever happened here.
  if (!workspace && workspace.error().code == Code::not_found) return std::vector<Event>();
  if (!workspace) return fail(workspace.error());
  const auto keys = call.keys(call.arguments().operands());
  if (!keys) return fail(keys.error());
  if (!keys->empty()) query->path = keys->front();
  return (*workspace)->client()->history(*query);
}

Result<int> run(Call& call) {
  const auto events = events_asked_for(call);
  if (!events) return fail(events.error());
  if (call.arguments().has("timeline")) {
    const auto since = since_of(call.arguments());
    if (!since) return fail(since.error());
    std::vector<Stay> all = stays(*events);
    if (!all.empty()) {
      if (auto done = end_in_time(all, *(*call.workspace())->client()); !done) return fail(done.error());
    }
    print_timeline(call.out(), std::move(all), *since);
    return 0;
  }
  if (call.out().json()) {
    boost::json::array all;
    for (const Event& event : *events) all.push_back(event_json(event));
    call.out().document({{"events", std::move(all)}});
    return 0;
  }
  std::string text;
  for (const Event& event : *events) text += event_text(event, call.out());
  call.out().print(text);
  return 0;
}

constexpr OptionSpec kOptions[] = {
    {"--agent", "NAME", "Only what concerns this agent's leases"},
    {"--since", "WHEN", "Not before this: 1h (ago), or 2026-11-15T08:00:00Z"},
    {"--limit", "N", "The newest so many; 100 if not given, 0: all"},
    {"--timeline", {}, "One row per file, with blocks of time for each agent"},
};

constexpr Example kExamples[] = {{"lease history src/a.ts", "who had it, and why it ended"},
                                 {"lease history --timeline --since 1h", "the last hour at a glance"}};

}  // namespace

const Command kHistory = {
    .name = "history",
    .synopsis = "[PATH] [--agent NAME] [--since WHEN] [--limit N] [--timeline]",
    .summary = "Show what happened to leases",
    .description =
        "Every change of a lease is one line, written in the same transaction: when, what, which file, "
        "whose, and "
        "why. The oldest first.",
    .operands = {"PATH", "Only what happened to this file", 0, 1},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
