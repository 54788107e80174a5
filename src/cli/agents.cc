#include "cli/board.h"
#include "cli/commands.h"
#include "cli/render_text.h"
#include "util/utf8.h"
#include "wire/people_json.h"

namespace leasehold {
namespace {

Result<int> run(Call& call) {
  const auto board = look_at_board(call);
  if (!board) return fail(board.error());
  if (call.out().json()) {
    call.out().document(agents_json(*board));
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& [owner, agent] : agents_on(*board)) {
    rows.push_back({in_sentence(owner.agent_id), in_sentence(owner.session_id),
                    in_sentence(agent.holder.host), std::to_string(agent.holds), std::to_string(agent.waits),
                    span_text(board->now - agent.last_heartbeat_at),
                    std::string(word(agent.verdict.liveness))});
  }
  if (rows.empty()) {
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
