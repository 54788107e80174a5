#include "util/duration_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace leasehold {
namespace {

using namespace std::chrono_literals;

struct Unit {
  std::string_view name;
  Duration length;
};

// Largest first: that is how they are written.
constexpr Unit kUnits[] = {{"d", 24h}, {"h", 1h}, {"m", 1min}, {"s", 1s}, {"ms", 1ms}};

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  if (text == "0") return Duration::zero();
  Duration sum{};
  while (!text.empty()) {
    Duration::rep count = 0;
    const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc::result_out_of_range) count = std::numeric_limits<Duration::rep>::max();
    if (error == std::errc::invalid_argument || text.front() == '-') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(after - text.data()));
    const std::string_view name = text.substr(0, text.find_first_of("0123456789"));
    const Unit* found = nullptr;
    for (const Unit& unit : kUnits) {
      if (unit.name == name) found = &unit;
    }
    if (found == nullptr) return std::nullopt;
    sum += std::min(count, kLongestDuration / found->length) * found->length;
    sum = std::min(sum, kLongestDuration);
    text.remove_prefix(name.size());
  }
  return negative ? -sum : sum;
}

std::string duration_text(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  std::string text;
  if (duration < Duration::zero()) {
    text = "-";
    duration = -duration;
  }
  for (const Unit& unit : kUnits) {
    if (duration < unit.length) continue;
    text += std::to_string(duration / unit.length) + std::string(unit.name);
    duration %= unit.length;
  }
  return text;
}

}  // namespace leasehold
