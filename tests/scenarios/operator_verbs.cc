#include <algorithm>
#include <tuple>

#include "scenarios/rows.h"
#include "scenarios/selecting.h"
#include "scenarios/verbs.h"

namespace leasehold::scenario {
namespace {

std::optional<Answer> force_release(World& world, const Arguments& arguments) {
  return answer_of("released",
                   world.client().force_release({.actor = arguments.first,
                                                 .which = selection_of(world, arguments),
                                                 .reason = arguments.text("reason")}),
                   world);
}

std::optional<Answer> recall(World& world, const Arguments& arguments) {
  return answer_of("recalled",
                   world.client().force_release({.actor = arguments.first,
                                                 .which = selection_of(world, arguments),
                                                 .reason = arguments.text("reason"),
                                                 .recall = arguments.time("within")}),
                   world);
}

std::optional<Answer> sweep(World& world, const Arguments& arguments) {
  const auto swept = world.client().sweep(arguments.has("dead"));
  if (!swept) return answer_of(swept.error());
  return Answer{
      .head = {"swept",
               {{"ended", std::to_string(swept->ended)}, {"dropped", std::to_string(swept->dropped)}}}};
}

std::optional<Answer> forget(World& world, const Arguments& arguments) {
  Swept swept;
  const auto done =
      world.manager().forget_some(parse_time("the time to keep history", arguments.text("history")), swept);
  if (!done) return answer_of(done.error());
  return Answer{.head = {"forgotten", {{"records", std::to_string(swept.forgotten)}}}};
}

// Holders of one path have no order of their own; the oldest grant first.
std::vector<BoardRow> in_order(std::vector<BoardRow> rows) {
  std::ranges::stable_sort(rows, [](const BoardRow& a, const BoardRow& b) {
    const bool both_hold = a.lease.status == Status::active && b.lease.status == Status::active;
    if (a.lease.path != b.lease.path || !both_hold) return a.lease.path < b.lease.path;
    return std::tie(a.lease.token, a.lease.holder.owner) < std::tie(b.lease.token, b.lease.holder.owner);
  });
  return rows;
}

// The head is about those who hold; who waits, and whose time is over though nobody recorded it,
// stands in pairs of its own.
std::optional<Answer> status(World& world, const Arguments& arguments) {
  std::vector<std::string> paths;
  for (const Scope& scope : arguments.scopes()) paths.push_back(scope.path);
  const auto board = world.client().board({.paths = paths});
  if (!board) return answer_of(board.error());
  std::string by, mode, token, waiting, over;
  Answer answer;
  for (const BoardRow& row : in_order(board->rows)) {
    const bool waits = row.lease.status == Status::pending;
    Phrase phrase = row_of(!row.live ? "over" : waits ? "waits" : "held", row.lease, world);
    phrase.pairs.push_back({"verdict", std::string(word(row.verdict.liveness))});
    join(!row.live ? over : waits ? waiting : by, to_text(row.lease.holder.owner));
    if (row.live && !waits) {
      join(mode, word(row.lease.mode));
      join(token, world.names.of(row.lease.token));
    }
    answer.rows.push_back(std::move(phrase));
  }
  answer.head.word = by.empty() ? "free" : "held";
  const Pair pairs[] = {{"by", by}, {"mode", mode}, {"token", token}, {"waiting", waiting}, {"over", over}};
  for (const Pair& pair : pairs) {
    if (!pair.value.empty()) answer.head.pairs.push_back(pair);
  }
  return answer;
}

// The head names every event; the rows tell more.
std::optional<Answer> history(World& world, const Arguments& arguments) {
  HistoryQuery query;
  if (arguments.paths.size() > 1) throw BadStep("history is of one path, or of all");
  if (!arguments.paths.empty()) query.path = parse_scope(arguments.paths.front()).path;
  if (arguments.options.contains("agent")) query.agent_id = arguments.text("agent");
  const auto events = world.client().history(query);
  if (!events) return answer_of(events.error());
  Answer answer;
  for (const Event& event : *events) {
    if (!answer.head.word.empty()) answer.head.word += ',';
    answer.head.word += word(event.type);
    answer.rows.push_back(row_of(event, world));
  }
  if (answer.rows.empty()) answer.head.word = "nothing";
  return answer;
}

}  // namespace

std::vector<Verb> operator_verbs() {
  return {
      {"force-release", "NAME [PATH...] [all] [id=LEASE] [pr=ID] [session=ID] [agent=ID] [reason=TEXT]",
       force_release},
      {"recall", "NAME [PATH...] [all] [id=LEASE] [pr=ID] [session=ID] [agent=ID] within=TIME [reason=TEXT]",
       recall},
      {"status", "[PATH...]", status},
      {"history", "[PATH...] [agent=ID]", history},
      {"sweep", "[dead]", sweep},
      {"forget", "history=TIME", forget},
  };
}

}  // namespace leasehold::scenario
