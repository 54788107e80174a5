#include "daemon/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <string_view>

#include "wire/answer_json.h"

namespace leasehold::daemon {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRowsAtOnce = 1'000;
constexpr auto kMostTime = 60s;

// Behind the last row.
constexpr std::string_view kEnd = "]}";

}  // namespace

bool Snapshot::is_overdue() const { return std::chrono::steady_clock::now() - since_ > kMostTime; }

std::string Snapshot::next_piece() {
  std::string text;
  if (told_ == 0) {
    const Board empty = {.now = board_.now, .wall = board_.wall, .rows = {}};
    text =
        fmt::format("id: {}\nevent: snapshot\ndata: {}", latest_, boost::json::serialize(board_json(empty)));
    text.resize(text.size() - kEnd.size());
  }
  const std::size_t end = std::min(board_.rows.size(), told_ + kRowsAtOnce);
  for (; told_ < end; ++told_) {
    if (told_ > 0) text += ',';
    text += boost::json::serialize(row_json(board_.rows[told_], {board_.now, board_.wall}));
    board_.rows[told_] = {};
  }
  is_told_ = end == board_.rows.size();
  if (is_told_) text.append(kEnd).append("\n\n");
  return text;
}

}  // namespace leasehold::daemon
