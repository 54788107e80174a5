#include "cli/answers.h"
#include "cli/board.h"
#include "cli/commands.h"
#include "cli/render_text.h"
#include "cli/when.h"
#include "util/wall_now.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

Result<Board> look(Call& call) {
  const auto at = call.arguments().text("at");
  if (!at) return look_at_board(call);
  const auto moment = parse_when(*at, "at");
  if (!moment) return fail(moment.error());
  if (*moment > wall_now())
    return fail(Code::invalid_argument, "--at is yet to come; history tells of the past.");
  return board_at(call, *moment);
}

Result<int> run(Call& call) {
  const auto board = look(call);
  if (!board) return fail(board.error());
  if (call.out().json()) {
    call.out().document(board_json(*board));
  } else if (board->rows.empty()) {
    const Arguments& arguments = call.arguments();
    const bool is_part = !arguments.operands().empty() || arguments.has("agent") ||
                         arguments.has("session") || arguments.has("pr");
    call.out().print(is_part ? "Nothing of that is leased.\n" : "Nothing is leased.\n");
  } else {
    call.out().print(board_text(*board, call.out()));
  }
  return 0;
}

constexpr OptionSpec kOptions[] = {
    kBoardAgentOption,
    kBoardSessionOption,
    kBoardPrOption,
    {"--at", "WHEN", "As it was then, told again from history: 1h (ago), or 2026-11-15T08:00:00Z"},
    kNullOption,
};

constexpr Example kExamples[] = {{"lease status", "the whole board"},
                                 {"lease status src --json", "src and all below it, for a program"}};

}  // namespace

const Command kStatus = {
    .name = "status",
    .synopsis = "[PATH...] [--agent NAME] [--session ID] [--pr ID] [--at WHEN]",
    .summary = "Show who holds what and who waits",
    .description =
        "One board: path, mode, owner, since when, when it ends, whether its owner is alive and which "
        "process "
        "tells, the reason, and below each path who waits for it, in the order they will go.",
    .operands = {"PATH", "Only what overlaps these files, or is below these folders"},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
