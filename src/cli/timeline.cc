#include "cli/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <map>

#include "cli/render_text.h"
#include "util/rfc3339.h"
#include "util/utf8.h"
#include "util/wall_now.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

constexpr std::size_t kColumns = 60;
constexpr Paint kPaints[] = {Paint::green, Paint::blue,   Paint::magenta,
                             Paint::cyan,  Paint::yellow, Paint::red};

// Each agent has a letter, and a colour where there are some.
struct Sign {
  char letter = 'A';
  Paint paint = Paint::plain;
};

std::map<std::string, Sign> signs_of(std::span<const Stay> all) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::map<std::string, Sign> signs;
  for (const Stay& stay : all) {
    const std::size_t next = signs.size();
    signs.try_emplace(stay.owner.agent_id,
                      Sign{kLetters[next % kLetters.size()], kPaints[next % std::size(kPaints)]});
  }
  return signs;
}

boost::json::object document(std::span<const Stay> all) {
  boost::json::array rows;
  for (const Stay& stay : all) {
    boost::json::object row = {{"path", stay.path},
                               {"subtree", stay.subtree},
                               {"mode", word(stay.mode)},
                               {"agent_id", stay.owner.agent_id},
                               {"session_id", stay.owner.session_id},
                               {"token", stay.token.value},
                               {"waits", stay.waits}};
    add_wall(row, "from", stay.from);
    if (stay.to) {
      add_wall(row, "to", *stay.to);
    } else {
      row["to"] = nullptr;
      row["to_ms"] = nullptr;
    }
    rows.push_back(std::move(row));
  }
  return {{"timeline", std::move(rows)}};
}

class Chart {
 public:
  Chart(const Output& out, std::span<const Stay> all, WallTime from, WallTime to)
      : out_(out),
        from_(from),
        span_(std::max(to - from, std::chrono::microseconds(1))),
        signs_(signs_of(all)) {
    for (const Stay& stay : all) add(stay);
  }

  std::string text() const {
    std::size_t widest = 0;
    for (const auto& [path, row] : rows_) widest = std::max(widest, path.size());
    std::string text;
    for (const auto& [path, row] : rows_) {
      text += path + std::string(widest - path.size(), ' ') + "  |";
      for (const Stay* stay : row) text += cell(stay);
      text += "|\n";
    }
    text +=
        fmt::format("{}  {} to {}\n", std::string(widest, ' '), to_rfc3339(from_), to_rfc3339(from_ + span_));
    for (const auto& [agent, sign] : signs_)
      text +=
          fmt::format("  {} {}\n", out_.painted(sign.paint, std::string(1, sign.letter)), in_sentence(agent));
    return text;
  }

 private:
  using Row = std::array<const Stay*, kColumns>;

  std::size_t column(WallTime at) const {
    const auto part = static_cast<double>((at - from_).count()) / static_cast<double>(span_.count());
    return std::min(static_cast<std::size_t>(std::max(part, 0.0) * kColumns), kColumns - 1);
  }
  void add(const Stay& stay) {
    if (stay.waits) return;
    Row& row = rows_[scope_text(stay.path, stay.subtree)];
    const std::size_t last = column(stay.to.value_or(from_ + span_));
    for (std::size_t i = column(stay.from); i <= last; ++i) row[i] = &stay;
  }
  std::string cell(const Stay* stay) const {
    if (stay == nullptr) return " ";
    const Sign& sign = signs_.at(stay->owner.agent_id);
    return out_.painted(sign.paint, std::string(1, sign.letter));
  }

  const Output& out_;
  WallTime from_;
  std::chrono::microseconds span_;
  std::map<std::string, Sign> signs_;
  std::map<std::string, Row> rows_;
};

}  // namespace

void print_timeline(const Output& out, std::vector<Stay> all, const std::optional<WallTime>& since) {
  if (since) std::erase_if(all, [&](const Stay& stay) { return stay.to && *stay.to < *since; });
  if (out.json()) {
    out.document(document(all));
  } else if (all.empty()) {
    out.print("Nothing happened.\n");
  } else {
    WallTime last = all.front().from;
    for (const Stay& stay : all) last = std::max(last, stay.to.value_or(wall_now()));
    out.print(Chart(out, all, since.value_or(all.front().from), last).text());
  }
}

}  // namespace leasehold
