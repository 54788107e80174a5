#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <cstdio>
#include <optional>
#include <utility>

#include "cli/board.h"
#include "cli/commands.h"
#include "cli/end_signals.h"
#include "cli/event_text.h"
#include "cli/render_text.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// How long a look at events waits for news. Times on the board run on meanwhile.
constexpr Duration kRefresh = 1s;
constexpr std::int64_t kManyEvents = 1'000'000'000;

// The reader of a pipe may go away while there is nothing to write to it.
bool nobody_reads() {
  pollfd descriptor = {STDOUT_FILENO, 0, 0};
  return ::poll(&descriptor, 1, 0) > 0 && (descriptor.revents & (POLLERR | POLLHUP)) != 0;
}

// What is on a board, but for how long it has been there.
std::string gist(const Board& board) {
  std::string text;
  const auto count = [](const std::optional<Time>& at) { return at ? at->time_since_epoch().count() : 0; };
  for (const auto& [lease, verdict, live] : board.rows) {
    text += fmt::format("{} {} {} {} {} {} {} {} {}\n", lease.id.text, word(lease.status), word(lease.mode),
                        lease.token.value, lease.renewal_count, count(lease.recalled_at),
                        count(lease.idle_at), word(verdict.liveness), live);
  }
  return text;
}

// Returns whether it was shown. On a terminal the times run on; others get it when it has changed, which
// `last` tells.
Result<bool> show_board(Call& call, Client& client, const Listing& what, std::optional<std::string>& last) {
  const auto board = client.board(what);
  if (!board) return fail(board.error());
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1 && !call.out().json();
  if (std::string now = gist(*board); std::exchange(last, now) == now && !is_terminal) return false;
  if (call.out().json()) {
    call.out().document(board_json(*board));
  } else {
    // To the top, and nothing is left of what stood there.
    call.out().print((is_terminal ? "\x1b[H\x1b[2J" : "") + board_text(*board, call.out()));
  }
  std::fflush(stdout);
  return true;
}

Result<int> run(Call& call) {
  const auto limit = call.arguments().number("limit", 1, kManyEvents);
  if (!limit) return fail(limit.error());
  const auto start = call.arguments().number("after", 0, INT64_MAX);
  if (!start) return fail(start.error());
  const auto workspace = call.workspace();
  if (!workspace) return fail(workspace.error());
  const auto what = listing(call);
  if (!what) return fail(what.error());
  const auto client = (*workspace)->client();
  const EndSignals signals;
  auto latest = client->latest_event();
  if (!latest) return fail(latest.error());
  std::uint64_t after = *start ? static_cast<std::uint64_t>(**start) : *latest;
  const bool board = call.arguments().has("board");
  std::optional<std::string> last_board;
  bool is_away = false;
  // What happened meanwhile is told when it is back: a server that is restarted, most often.
  const auto passes = [&](const Error& error) {
    if (error.code != Code::unavailable || nobody_reads()) return false;
    if (!std::exchange(is_away, true))
      call.out().note(fmt::format("{}{} Goes on when it is there again.", error.message,
                                  error.message.ends_with('.') ? "" : "."));
    pollfd interrupted = {signals.descriptor(), POLLIN, 0};
    ::poll(&interrupted, 1, static_cast<int>(kRefresh.count()));
    return true;
  };
  for (std::int64_t left = limit->value_or(kManyEvents); left > 0 && !signals.came();) {
    if (board) {
      const auto shown = show_board(call, *client, *what, last_board);
      if (!shown && passes(shown.error())) continue;
      if (!shown) return fail(shown.error());
      if (*shown && --left == 0) break;
    }
    const auto events = client->events(after, kRefresh, signals.descriptor());
    if (!events) {
      if (passes(events.error())) continue;
      return fail(events.error());
    }
    is_away = false;
    for (const Event& event : *events) {
      after = event.sequence;
      if (!concerns(event, *what)) continue;
      if (board) continue;
      if (left-- <= 0) break;
      if (call.out().json()) {
        call.out().document(event_json(event));
      } else {
        call.out().print(event_text(event, call.out()));
      }
    }
    if (std::fflush(stdout) != 0 || nobody_reads()) break;
  }
  return 0;
}

constexpr OptionSpec kOptions[] = {
    {"--board", {}, "Show the whole board instead, always as it is now"},
    {"--after", "SEQUENCE", "Begin behind this event instead of now"},
    {"--limit", "N", "End after so many events, or boards"},
    kBoardAgentOption,
    kBoardSessionOption,
    kBoardPrOption,
};

constexpr Example kExamples[] = {{"lease watch --json", "one document in each line, for a program"},
                                 {"lease watch --agent bob", "what becomes of bob's leases"},
                                 {"lease watch --board src", "who has what below src"}};

}  // namespace

const Command kWatch = {
    .name = "watch",
    .synopsis = "[--board] [PATH...] [--agent NAME] [--session ID] [--pr ID] [--after SEQUENCE] [--limit N]",
    .summary = "Show what happens to leases as it happens",
    .description =
        "Prints each event as a line, whichever process caused it, until it is interrupted. A server or "
        "store that is away for a while is asked again, and what happened meanwhile is printed then.",
    .operands = {"PATH", "Only what overlaps these files, or is below these folders"},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
