#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/board.h"
#include "cli/commands.h"
#include "cli/render_text.h"
#include "model/scope.h"
#include "util/utf8.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

Result<int> run(Call& call) {
  const auto board = look_at_board(call);
  if (!board) return fail(board.error());
  boost::json::array rows;
  std::string text;
  for (const BoardRow& row : board->rows) {
    const Lease& lease = row.lease;
    if (!row.live || lease.status != Status::active) continue;
    if (call.out().json()) {
      rows.push_back(lease_json(lease, {board->now, board->wall}));
    } else if (call.arguments().has("null")) {
      text += (is_path(lease.path) ? "file:" + lease.path : lease.path) + '\0';
    } else {
      text += fmt::format("{}\t{}\t{}\n", scope_text(lease.path, lease.subtree), word(lease.mode),
                          in_sentence(lease.holder.owner.agent_id));
    }
  }
  if (call.out().json()) {
    call.out().document({{"leases", std::move(rows)}});
  } else {
    call.out().print(text);
  }
  return 0;
}

constexpr OptionSpec kOptions[] = {
    kBoardAgentOption,
    kBoardSessionOption,
    kBoardPrOption,
    {"-0,--null", {}, "Print only paths, as commands take them, each ended by NUL"},
};

constexpr Example kExamples[] = {{"lease ls --agent bob", "what bob holds"}};

}  // namespace

const Command kLs = {
    .name = "ls",
    .synopsis = "[PATH...] [--agent NAME] [--session ID] [--pr ID]",
    .summary = "List what is held, one line each",
    .description =
        "The short form of lease status: path, mode and agent of each live lease, with tabs between.",
    .operands = {"PATH", "Only what overlaps these files, or is below these folders"},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
