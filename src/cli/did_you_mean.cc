#include "cli/did_you_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace leasehold {
namespace {

// Letters to insert, drop, replace, or swap with their neighbour, to make one of the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last(to.size() + 1);
  std::vector<std::size_t> last(to.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::vector<std::size_t> row(to.size() + 1, i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::move(last);
    last = std::move(row);
  }
  return last[to.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  constexpr std::size_t kLongest = 40;  // Whatever is longer is no slip of a finger.
  if (word.empty() || word.size() > kLongest) return {};
  std::string_view nearest;
  const std::size_t letters = word.size() - std::min(word.size(), word.find_first_not_of('-'));
  // All of a short word could be replaced.
  constexpr std::size_t kShort = 3;
  std::size_t least = letters <= kShort ? 1 : 1 + letters / 3;
  for (const std::string_view candidate : words) {
    const std::size_t away = candidate.starts_with(word) ? 1 : distance(word, candidate);
    if (away > least || (away == least && !nearest.empty())) continue;
    least = away;
    nearest = candidate;
  }
  return nearest.empty() ? std::string() : fmt::format(" Did you mean {}?", nearest);
}

}  // namespace leasehold
