#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/did_you_mean.h"
#include "util/duration_text.h"
#include "util/number.h"
#include "util/utf8.h"
#include "util/word_list.h"

namespace leasehold {
namespace {

// Enough of a word to recognise it: it may be a whole file that was passed by mistake.
std::string shown(std::string_view word) {
  constexpr std::size_t kShownBytes = 40;
  return in_quotes(word.substr(0, kShownBytes)) + (word.size() > kShownBytes ? "..." : "");
}

std::string_view long_name(std::string_view names) { return names.substr(names.find("--") + 2); }

std::unexpected<Error> bad(const Command& command, std::string_view message) {
  return fail(Code::invalid_argument, fmt::format("{} See: lease help {}", message, command.name));
}

}  // namespace

// Only the chosen command's options are made known to CLI11, so that starting stays cheap.
class Parser {
 public:
  explicit Parser(const Command& command) : command_(command) {
    app_.set_help_flag();
    app_.allow_extras();
    for (const OptionGroup& group : option_groups(command).groups) {
      for (const OptionSpec& spec : group.options) add(spec);
    }
  }

  Result<Arguments> parse(std::span<const std::string_view> words) {
    // What follows the dashes is no option: another program's arguments, or operands.
    const auto mark = std::ranges::find(words, "--");
    const std::vector<std::string> rest(mark == words.end() ? mark : mark + 1, words.end());
    words = {words.begin(), mark};
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    try {
      app_.parse(std::move(reversed));
    } catch (const CLI::ArgumentMismatch&) {
      return bad(command_, fmt::format("{} needs a value.", shown(words.back())));
    } catch (const CLI::Error& error) {
      return bad(command_, fmt::format("{}.", in_quotes(error.what())));
    }
    for (const auto& [spec, option] : options_) {
      if (option->count() == 0) continue;
      if (auto checked = take(*spec, option->results()); !checked) return fail(checked.error());
    }
    if (result_.has("help")) return std::move(result_);
    // Not an option of CLI11's: that would take [a] apart.
    for (const std::string& word : app_.remaining()) {
      if (command_.operands.name.empty() || (word.starts_with('-') && word != "-")) return unknown(word);
      result_.operands_.push_back(word);
    }
    if (command_.runs_command) {
      result_.command_ = rest;
    } else {
      result_.operands_.insert(result_.operands_.end(), rest.begin(), rest.end());
    }
    if (auto counted = count_operands(); !counted) return fail(counted.error());
    return std::move(result_);
  }

 private:
  void add(const OptionSpec& spec) {
    const std::string names(spec.names);
    CLI::Option* option = nullptr;
    if (spec.value.empty()) {
      option = app_.add_flag(names);
    } else {
      option = app_.add_option(names)->type_size(1)->expected(1)->allow_extra_args(false);
      option->multi_option_policy(spec.repeats ? CLI::MultiOptionPolicy::TakeAll
                                               : CLI::MultiOptionPolicy::TakeLast);
    }
    options_.emplace_back(&spec, option);
  }

  Result<void> take(const OptionSpec& spec, const std::vector<std::string>& values) {
    if (spec.value.empty() &&
        std::ranges::any_of(values, [](const auto& value) { return value != "true"; })) {
      return bad(command_, fmt::format("--{} takes no value.", long_name(spec.names)));
    }
    if (!spec.choices.empty()) {
      for (const std::string& value : values) {
        if (auto checked = one_of(spec.choices, value, fmt::format("--{}", long_name(spec.names))); !checked)
          return checked;
      }
    }
    result_.values_.emplace(long_name(spec.names), values);
    return {};
  }

  Result<void> one_of(std::string_view choices, const std::string& value, const std::string& what) const {
    const std::vector<std::string_view> words = words_of(choices);
    if (std::ranges::find(words, value) != words.end()) return {};
    return bad(command_, fmt::format("{} is {}; it may be: {}.{}", what, shown(value), fmt::join(words, ", "),
                                     did_you_mean(value, words)));
  }

  std::unexpected<Error> unknown(const std::string& word) const {
    if (!word.starts_with('-') || word == "-") return too_many(word);
    const std::string name = word.substr(0, word.find('='));
    std::vector<std::string_view> known;
    for (const auto& [spec, option] : options_) known.push_back(spec->names.substr(spec->names.find("--")));
    return bad(command_, fmt::format("lease {} has no option {}.{}", command_.name, shown(name),
                                     did_you_mean(name, known)));
  }

  std::unexpected<Error> too_many(const std::string& word) const {
    return bad(command_, fmt::format("{} takes no argument {}.", command_.name, shown(word)));
  }

  Result<void> count_operands() const {
    const OperandSpec& spec = command_.operands;
    const std::vector<std::string>& given = result_.operands_;
    if (given.size() > spec.most) return too_many(given[spec.most]);
    if (given.size() < spec.least) return bad(command_, fmt::format("{} is missing.", spec.name));
    if (spec.choices.empty()) return {};
    for (const std::string& word : given) {
      if (auto checked = one_of(spec.choices, word, std::string(spec.name)); !checked) return checked;
    }
    return {};
  }

  const Command& command_;
  CLI::App app_;
  std::vector<std::pair<const OptionSpec*, CLI::Option*>> options_;
  Arguments result_;
};

Result<Arguments> Arguments::parse(const Command& command, std::span<const std::string_view> words) {
  if (!command.takes_numbers) return Parser(command).parse(words);
  // A negative one would look like an option.
  const auto is_negative = [](std::string_view word) {
    return word.size() > 1 && word[0] == '-' && word[1] >= '1' && word[1] <= '9';
  };
  std::vector<std::string_view> marked(words.begin(), words.end());
  const auto number = std::ranges::find_if(marked, is_negative);
  if (number != marked.end() && std::ranges::find(marked, "--") == marked.end()) marked.insert(number, "--");
  return Parser(command).parse(marked);
}

std::optional<std::string> Arguments::text(std::string_view option) const {
  const auto found = values_.find(option);
  if (found == values_.end()) return std::nullopt;
  return found->second.back();
}

std::vector<std::string> Arguments::texts(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

Result<std::optional<Duration>> Arguments::duration(std::string_view option) const {
  const auto given = text(option);
  if (!given) return std::nullopt;
  if (const auto parsed = parse_duration(*given)) return parsed;
  return fail(Code::invalid_argument,
              fmt::format("--{} is {}; give a duration with its unit, such as 250ms, 30s, 5m or 1h30m.",
                          option, shown(*given)));
}

Result<std::optional<std::int64_t>> Arguments::number(std::string_view option, std::int64_t least,
                                                      std::int64_t most) const {
  const auto given = text(option);
  if (!given) return std::nullopt;
  if (const auto value = parse_number<std::int64_t>(*given); value && *value >= least && *value <= most)
    return value;
  return fail(Code::invalid_argument, fmt::format("--{} is {}; give a whole number from {} to {}.", option,
                                                  shown(*given), least, most));
}

}  // namespace leasehold
