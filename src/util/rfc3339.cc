#include "util/rfc3339.h"

#include <fmt/compile.h>

#include <algorithm>

namespace leasehold {
namespace {

using namespace std::chrono;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the parts off the front of a text, one after the other; what is missing once is missing for good.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  int number(std::size_t digits) {
    if (rest_.size() < digits || !std::all_of(rest_.begin(), rest_.begin() + digits, is_digit)) {
      return spoil();
    }
    int value = 0;
    for (const char c : rest_.substr(0, digits)) value = value * 10 + (c - '0');
    rest_.remove_prefix(digits);
    return value;
  }

  // Returns which of them it was.
  char one_of(std::string_view characters) {
    if (rest_.empty() || !characters.contains(rest_.front())) return static_cast<char>(spoil());
    const char found = rest_.front();
    rest_.remove_prefix(1);
    return found;
  }

  microseconds fraction() {
    if (!rest_.starts_with('.')) return microseconds(0);
    rest_.remove_prefix(1);
    int value = 0;
    int unit = 100'000;
    if (rest_.empty() || !is_digit(rest_.front())) spoil();
    for (; !rest_.empty() && is_digit(rest_.front()); rest_.remove_prefix(1), unit /= 10) {
      value += (rest_.front() - '0') * unit;
    }
    return microseconds(value);
  }

  bool is_whole() const { return good_ && rest_.empty(); }

 private:
  int spoil() {
    good_ = false;
    return 0;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

std::string to_rfc3339(sys_time<microseconds> moment) {
  const auto day = floor<days>(moment);
  const year_month_day date(day);
  const hh_mm_ss time(moment - day);
  return fmt::format(FMT_COMPILE("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z"), static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     time.subseconds().count());
}

std::optional<sys_time<microseconds>> parse_rfc3339(std::string_view text) {
  Reader reader(text);
  const year in_year(reader.number(4));
  reader.one_of("-");
  const month in_month(static_cast<unsigned>(reader.number(2)));
  reader.one_of("-");
  const day on_day(static_cast<unsigned>(reader.number(2)));
  reader.one_of("Tt ");
  const hours hour(reader.number(2));
  reader.one_of(":");
  const minutes minute(reader.number(2));
  reader.one_of(":");
  const seconds second(reader.number(2));
  const microseconds fraction = reader.fraction();
  const char zone = reader.one_of("Zz+-");
  minutes offset{};
  if (zone == '+' || zone == '-') {
    const hours ahead(reader.number(2));
    reader.one_of(":");
    const minutes and_minutes(reader.number(2));
    if (ahead > 23h || and_minutes > 59min) return std::nullopt;
    offset = zone == '+' ? ahead + and_minutes : -(ahead + and_minutes);
  }

  const year_month_day date(in_year, in_month, on_day);
  // 60 is a leap second.
  if (!reader.is_whole() || !date.ok() || hour > 23h || minute > 59min || second > 60s) return std::nullopt;
  return sys_days(date) + hour + minute + second + fraction - offset;
}

}  // namespace leasehold
