#include "daemon/board_pages.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "wire/answer_json.h"

namespace leasehold::daemon {
namespace {

using namespace std::chrono_literals;

// Each may be all there is.
constexpr std::size_t kRestsMost = 2;
constexpr auto kKept = 10s;

std::string key_of(const std::string& what, const std::string& cursor) { return what + "\n" + cursor; }

}  // namespace

std::string cursor_of(const BoardRow& row) { return row.lease.path + "|" + row.lease.id.text; }

std::size_t rows_before(const Board& board, const std::string& cursor) {
  if (cursor.empty()) return 0;
  const auto bar = cursor.rfind('|');
  const std::string path = cursor.substr(0, bar);
  const std::string id = bar == std::string::npos ? "" : cursor.substr(bar + 1);
  for (std::size_t i = 0; i < board.rows.size(); ++i) {
    if (board.rows[i].lease.id.text == id) return i + 1;
  }
  const auto after =
      std::ranges::find_if(board.rows, [&](const BoardRow& row) { return row.lease.path >= path; });
  return static_cast<std::size_t>(after - board.rows.begin());
}

boost::json::object BoardPages::page(const Asked& asked, Board board) {
  const std::size_t shown = rows_before(board, asked.cursor);
  return take_page(asked, {.board = std::move(board), .shown = shown, .since = now_()});
}

std::optional<boost::json::object> BoardPages::page_at_hand(const Asked& asked) {
  Rest rest;
  {
    const std::lock_guard lock(mutex_);
    const auto found = rests_.find(key_of(asked.what, asked.cursor));
    if (found == rests_.end()) return std::nullopt;
    rest = std::move(found->second);
    rests_.erase(found);
  }
  if (is_old(rest)) return std::nullopt;
  return take_page(asked, std::move(rest));
}

boost::json::object BoardPages::take_page(const Asked& asked, Rest rest) {
  std::vector<BoardRow>& rows = rest.board.rows;
  const std::size_t end = rest.shown + std::min<std::size_t>(rows.size() - rest.shown, asked.limit);
  Board part = {.now = rest.board.now, .wall = rest.board.wall, .rows = {}};
  part.rows.reserve(end - rest.shown);
  for (std::size_t i = rest.shown; i < end; ++i) part.rows.push_back(std::move(rows[i]));
  boost::json::object document = board_json(part);
  document["next_cursor"] = nullptr;
  if (end == rows.size() || part.rows.empty()) return document;
  const std::string next = cursor_of(part.rows.back());
  document["next_cursor"] = next;
  rest.shown = end;
  // Who has asked for one page only may not want another.
  if (!asked.what.empty() && !asked.cursor.empty()) keep(key_of(asked.what, next), std::move(rest));
  return document;
}

void BoardPages::keep(const std::string& key, Rest rest) {
  const std::lock_guard lock(mutex_);
  rests_[key] = std::move(rest);
  if (rests_.size() > kRestsMost)
    rests_.erase(std::ranges::min_element(rests_, {}, [](const auto& one) { return one.second.since; }));
}

bool BoardPages::is_old(const Rest& rest) const { return now_() - rest.since > kKept; }

void BoardPages::forget_old() {
  const std::lock_guard lock(mutex_);
  std::erase_if(rests_, [&](const auto& one) { return is_old(one.second); });
}

}  // namespace leasehold::daemon
