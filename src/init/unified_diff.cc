#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "init/file_change.h"

namespace leasehold {
namespace {

constexpr std::size_t kContext = 3;
// More lines than this are not compared with each other: the whole middle counts as changed then.
constexpr std::size_t kComparedMax = 4'000'000;

std::vector<std::string_view> lines_of(const FileText& text) {
  std::vector<std::string_view> lines;
  for (std::string_view rest = text ? std::string_view(*text) : std::string_view(); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return lines;
}

struct Step {
  char sign;  // ' ', '-' or '+'.
  std::string_view line;
};

// The shortest way from one list of lines to another, by their longest common subsequence.
class Steps {
 public:
  Steps(std::vector<std::string_view> before, std::vector<std::string_view> after)
      : before_(std::move(before)), after_(std::move(after)) {}

  std::vector<Step> find() {
    const std::size_t shorter = std::min(before_.size(), after_.size());
    std::size_t head = 0;
    while (head < shorter && before_[head] == after_[head]) take(' ', before_[head++]);
    std::size_t tail = 0;
    while (tail < shorter - head && before_[before_.size() - 1 - tail] == after_[after_.size() - 1 - tail])
      ++tail;
    walk(head, before_.size() - tail, after_.size() - tail);
    for (std::size_t i = before_.size() - tail; i < before_.size(); ++i) take(' ', before_[i]);
    return std::move(steps_);
  }

 private:
  void take(char sign, std::string_view line) { steps_.push_back({sign, line}); }

  void walk(std::size_t head, std::size_t before_end, std::size_t after_end) {
    const std::size_t rows = before_end - head;
    const std::size_t columns = after_end - head;
    std::size_t i = 0;
    std::size_t j = 0;
    if (rows * columns <= kComparedMax) {
      // common(i, j): how many lines the rests have in common.
      std::vector<std::size_t> table((rows + 1) * (columns + 1));
      const auto common = [&](std::size_t row, std::size_t column) -> std::size_t& {
        return table[row * (columns + 1) + column];
      };
      for (std::size_t row = rows; row-- > 0;) {
        for (std::size_t column = columns; column-- > 0;) {
          common(row, column) = before_[head + row] == after_[head + column]
                                    ? common(row + 1, column + 1) + 1
                                    : std::max(common(row + 1, column), common(row, column + 1));
        }
      }
      while (i < rows && j < columns) {
        if (before_[head + i] == after_[head + j]) {
          take(' ', before_[head + i]);
          ++i;
          ++j;
        } else if (common(i + 1, j) >= common(i, j + 1)) {
          take('-', before_[head + i++]);
        } else {
          take('+', after_[head + j++]);
        }
      }
    }
    for (; i < rows; ++i) take('-', before_[head + i]);
    for (; j < columns; ++j) take('+', after_[head + j]);
  }

  std::vector<std::string_view> before_;
  std::vector<std::string_view> after_;
  std::vector<Step> steps_;
};

std::string hunk(std::span<const Step> steps, std::size_t begin, std::size_t end) {
  const auto count = [&](std::size_t from, std::size_t to, char other) {
    return std::count_if(steps.begin() + static_cast<std::ptrdiff_t>(from),
                         steps.begin() + static_cast<std::ptrdiff_t>(to),
                         [&](const Step& step) { return step.sign != other; });
  };
  const auto before = count(begin, end, '+');
  const auto after = count(begin, end, '-');
  std::string text = fmt::format("@@ -{},{} +{},{} @@\n", count(0, begin, '+') + (before > 0 ? 1 : 0), before,
                                 count(0, begin, '-') + (after > 0 ? 1 : 0), after);
  for (const Step& step : steps.subspan(begin, end - begin)) {
    text += step.sign;
    text += step.line;
    if (!step.line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
  }
  return text;
}

}  // namespace

std::string unified_diff(const FileChange& change, std::string_view name) {
  if (!change.is_needed()) return {};
  std::string mode = change.lacks_mode ? fmt::format("{}: it can be run\n", name) : std::string();
  if (change.before == change.after) return mode;
  const std::vector<Step> steps = Steps(lines_of(change.before), lines_of(change.after)).find();
  std::string text = mode + fmt::format("--- {}\n+++ {}\n", change.before ? name : "/dev/null",
                                        change.after ? name : "/dev/null");
  for (std::size_t i = 0; i < steps.size();) {
    if (steps[i].sign == ' ') {
      ++i;
      continue;
    }
    std::size_t last = i;
    for (std::size_t j = i; j < steps.size() && j <= last + 2 * kContext; ++j) {
      if (steps[j].sign != ' ') last = j;
    }
    const std::size_t end = std::min(last + 1 + kContext, steps.size());
    text += hunk(steps, i - std::min(i, kContext), end);
    i = end;
  }
  return text;
}

}  // namespace leasehold
