#include "cli/render_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/live.h"
#include "leasehold/until_released.h"
#include "util/duration_text.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Columns on a terminal: colours take none, and continued UTF-8 sequences none either.
std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  bool in_colour = false;
  for (const char c : text) {
    if (c == '\x1b') {
      in_colour = true;
    } else if (in_colour) {
      in_colour = c != 'm';
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++columns;
    }
  }
  return columns;
}

Paint colour_of(Liveness liveness) {
  switch (liveness) {
    case Liveness::alive:
      return Paint::green;
    case Liveness::dead:
      return Paint::red;
    case Liveness::unknown:
      break;
  }
  return Paint::dim;
}

std::string owner_text(const Holder& holder) {
  std::string text = in_sentence(holder.owner.agent_id);
  if (!holder.owner.session_id.empty()) text += "/" + in_sentence(holder.owner.session_id);
  if (!holder.pr_id.empty()) text += " #" + in_sentence(holder.pr_id);
  return text;
}

std::string ends_text(const BoardRow& row, Time now) {
  if (!row.live) return "ended";
  if (row.lease.status == Status::pending) return "waits";
  const Time end = end_as_it_stands(row.lease);
  if (end == kForever) return row.lease.ttl == kUntilReleased ? "until released" : "-";
  // Its owner is seen alive, which keeps it past its time.
  if (end <= now) return "attended";
  return span_text(end - now) + (row.lease.recalled_at ? ", asked back" : "");
}

std::string alive_text(const BoardRow& row, const Output& out) {
  std::string text(word(row.verdict.liveness));
  if (row.lease.holder.process) text += fmt::format(" (pid {})", row.lease.holder.process->pid);
  return out.painted(colour_of(row.verdict.liveness), text);
}

}  // namespace

std::string span_text(std::chrono::nanoseconds span) {
  const auto rounded = std::chrono::duration_cast<Duration>(span);
  if (rounded < 1s) return duration_text(rounded);
  if (rounded < 1h) return duration_text(std::chrono::duration_cast<std::chrono::seconds>(rounded));
  if (rounded < 24h) return duration_text(std::chrono::duration_cast<std::chrono::minutes>(rounded));
  return duration_text(std::chrono::duration_cast<std::chrono::hours>(rounded));
}

std::string granted_text(const Granted& granted, const Output& out) {
  std::string text;
  for (const Lease& lease : granted.leases) {
    text += fmt::format("{}  {}  token {}  ends in {}",
                        out.painted(Paint::bold, scope_text(lease.path, lease.subtree)), word(lease.mode),
                        lease.token.value, span_text(end_as_it_stands(lease) - lease.updated_at));
    if (!lease.requested && !lease.paired_with.empty()) {
      text += fmt::format("  (paired with {}, rule {})", in_sentence(lease.paired_with.front()),
                          in_sentence(lease.rule));
    }
    text += "\n";
  }
  return text;
}

std::string outcome_text(const Outcome& outcome, std::string_view done, std::string_view already,
                         const Output& out) {
  const std::string path =
      outcome.lease ? scope_text(outcome.lease->path, outcome.lease->subtree) : in_sentence(outcome.path);
  return fmt::format("{}  {}\n", out.painted(Paint::bold, path), outcome.already ? already : done);
}

std::string table_text(std::span<const std::string_view> titles,
                       std::span<const std::vector<std::string>> rows, const Output& out) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    std::size_t widest = titles[i].size();
    for (const auto& row : rows) widest = std::max(widest, width(row[i]));
    widths.push_back(widest);
  }
  std::string text;
  const auto add = [&](std::size_t column, std::string_view cell) {
    text += cell;
    if (column + 1 < titles.size()) text.append(widths[column] - width(cell) + 2, ' ');
  };
  const auto end_line = [&] {
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  for (std::size_t i = 0; i < titles.size(); ++i) add(i, out.painted(Paint::dim, titles[i]));
  end_line();
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < titles.size(); ++i) add(i, row[i]);
    end_line();
  }
  return text;
}

std::string board_text(const Board& board, const Output& out) {
  constexpr std::string_view kTitles[] = {"PATH", "MODE", "OWNER", "SINCE", "ENDS IN", "ALIVE", "REASON"};
  std::vector<std::vector<std::string>> rows;
  for (const BoardRow& row : board.rows) {
    const Lease& lease = row.lease;
    const bool waits = lease.status == Status::pending;
    rows.push_back({(waits ? "  " : "") + scope_text(lease.path, lease.subtree),
                    std::string(word(lease.mode)), owner_text(lease.holder),
                    span_text(board.now - (waits ? lease.created_at : lease.acquired_at)),
                    waits && row.live ? out.painted(Paint::yellow, "waits") : ends_text(row, board.now),
                    alive_text(row, out), lease.reason.empty() ? "" : in_quotes(lease.reason)});
  }
  return table_text(kTitles, rows, out);
}

}  // namespace leasehold
