#include "cli/help_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace leasehold {
namespace {

constexpr std::size_t kWidth = 80;

// Takes the next piece up to `separator` off the front.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view piece = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return piece;
}

// Lines of at most kWidth columns, each but the first behind `indent` blanks; `column`: where the first
// begins.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t column) {
  std::string result;
  while (!text.empty()) {
    const std::string_view word = take(text, ' ');
    const bool first = result.empty();
    if (!first && column + 1 + word.size() > kWidth) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

// A name and, beside or below it, what it is.
std::string entry(std::string_view name, std::string_view text) {
  constexpr std::size_t kColumn = 30;
  std::string line = fmt::format("  {}", name);
  if (line.size() + 2 > kColumn)
    line += "\n" + std::string(kColumn, ' ');
  else
    line.append(kColumn - line.size(), ' ');
  return line + wrapped(text, kColumn, kColumn) + "\n";
}

std::string option_entry(const OptionSpec& option) {
  std::string names = option.names.starts_with("--") ? "    " : "";
  std::string_view rest = option.names;
  names += take(rest, ',');
  if (!rest.empty()) names += fmt::format(", {}", rest);
  if (!option.value.empty()) names += fmt::format(" {}", option.value);
  std::string text(option.text);
  if (!option.choices.empty()) {
    std::string_view choices = option.choices;
    text += ": ";
    while (!choices.empty()) {
      text += take(choices, ' ');
      if (!choices.empty()) text += ", ";
    }
  }
  if (option.repeats) text += " (may be repeated)";
  return entry(names, text);
}

std::string paragraphs(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = take(text, '\n');
    result += wrapped(line, 0, 0) + "\n";
  }
  return result;
}

}  // namespace

std::string usage_text(const Command& command) {
  std::string text;
  std::string_view forms = command.synopsis;
  do {
    const std::string_view form = take(forms, '\n');
    text += fmt::format("lease {}{}{}\n", command.name, form.empty() ? "" : " ", form);
  } while (!forms.empty());
  return text;
}

std::string overview_text() {
  std::string text = "usage: lease COMMAND [ARGUMENT]...\n\nFile leases for fleets of coding agents.\n\n";
  for (const Command* command : commands())
    text += fmt::format("  {:<14} {}\n", command->name, command->summary);
  return text + "\nMore about one: lease help COMMAND\n";
}

std::string help_text(const Command& command) {
  std::string text = fmt::format("usage: {}", usage_text(command));
  text += fmt::format("\n{}", paragraphs(command.description));
  if (!command.operands.name.empty())
    text += fmt::format("\nArguments:\n{}", entry(command.operands.name, command.operands.text));
  for (const OptionGroup& group : option_groups(command).groups) {
    if (group.options.empty()) continue;
    text += fmt::format("\n{}:\n", group.title);
    for (const OptionSpec& option : group.options) text += option_entry(option);
  }
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const Example& example : command.examples)
    text += fmt::format("  {}\n      {}\n", example.command, wrapped(example.text, 6, 6));
  return text;
}

}  // namespace leasehold
