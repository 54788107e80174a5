// The board, page by page. A page has to read all of it, to have it in order; so for whoever reads on, what
// was not shown yet is kept for a while.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "leasehold/client.h"

namespace leasehold::daemon {

// Where the next page begins if this row is the last of one.
std::string cursor_of(const BoardRow& row);
// How many rows the pages up to that one have. Where its row is gone, others of its path come again: none is
// missed.
std::size_t rows_before(const Board& board, const std::string& cursor);

// Thread-safe.
class BoardPages {
 public:
  using Clock = std::chrono::steady_clock;
  explicit BoardPages(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  struct Asked {
    std::string what;    // Tells this listing from others; empty: the rest is not kept.
    std::string cursor;  // Of the page before; empty: from the beginning.
    std::uint64_t limit = 0;
  };
  // So many rows behind the one that the cursor names, and where the next page begins (`next_cursor`).
  boost::json::object page(const Asked& asked, Board board);
  // The same without reading, if that is at hand and not old. Each is there once.
  std::optional<boost::json::object> page_at_hand(const Asked& asked);

  // Drops what nobody came for.
  void forget_old();

 private:
  struct Rest {
    Board board;
    std::size_t shown = 0;    // Rows before this are gone.
    Clock::time_point since;  // When it was read.
  };

  boost::json::object take_page(const Asked& asked, Rest rest);
  void keep(const std::string& key, Rest rest);
  bool is_old(const Rest& rest) const;

  const std::function<Clock::time_point()> now_;

  std::mutex mutex_;  // Guards what follows.
  std::map<std::string, Rest> rests_;
};

}  // namespace leasehold::daemon
