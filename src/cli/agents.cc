#include <boost/json/array.hpp>
#include <map>

#include "cli/board.h"
#include "cli/commands.h"
#include "cli/render_text.h"
#include "util/utf8.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

struct Agent {
  std::size_t holds = 0;
  std::size_t waits = 0;
  Time last_heartbeat_at;
  Holder holder;
  Verdict verdict;
};

std::map<Owner, Agent> agents_of(const Board& board) {
  std::map<Owner, Agent> agents;
  for (const BoardRow& row : board.rows) {
    if (!row.live) continue;
    Agent& agent = agents[row.lease.holder.owner];
    (row.lease.status == Status::pending ? agent.waits : agent.holds) += 1;
    agent.last_heartbeat_at = std::max(agent.last_heartbeat_at, row.lease.last_heartbeat_at);
    agent.holder = row.lease.holder;
    agent.verdict = row.verdict;
  }
  return agents;
}

Result<int> run(Call& call) {
  const auto board = look_at_board(call);
  if (!board) return fail(board.error());
  boost::json::array all;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [owner, agent] : agents_of(*board)) {
    if (call.out().json()) {
      boost::json::object one = {{"agent_id", owner.agent_id}, {"session_id", owner.session_id},
                                 {"host", agent.holder.host},  {"holds", agent.holds},
                                 {"waits", agent.waits},       {"verdict", verdict_json(agent.verdict)}};
      add_wall(one, "last_heartbeat_at", wall_time(agent.last_heartbeat_at, board->now, board->wall));
      all.push_back(std::move(one));
    } else {
      rows.push_back({in_sentence(owner.agent_id), in_sentence(owner.session_id),
                      in_sentence(agent.holder.host), std::to_string(agent.holds),
                      std::to_string(agent.waits), span_text(board->now - agent.last_heartbeat_at),
                      std::string(word(agent.verdict.liveness))});
    }
  }
  if (call.out().json()) {
    call.out().document({{"agents", std::move(all)}});
  } else if (rows.empty()) {
    call.out().print("Nobody holds or waits for anything.\n");
  } else {
    constexpr std::string_view kTitles[] = {"AGENT", "SESSION",  "HOST", "HOLDS",
                                            "WAITS", "HEARD OF", "ALIVE"};
    call.out().print(table_text(kTitles, rows, call.out()));
  }
  return 0;
}

}  // namespace

const Command kAgents = {
    .name = "agents",
    .synopsis = "",
    .summary = "List who holds or waits for something",
    .description =
        "One line for each owner: how many leases it holds, how many it waits for, and whether it lives.",
    .run = run,
};

}  // namespace leasehold
