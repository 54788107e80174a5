#include "cli/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "leasehold/error.h"

namespace leasehold {
namespace {

// As text for roff: no escapes, no requests, and dashes that can be copied.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
      result += fmt::format("\\&{}", c);
    } else {
      result += c;
    }
  }
  return result;
}

std::string head(std::string_view name, std::string_view summary) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
  return fmt::format(".TH {} 1 \"\" \"Leasehold {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", upper,
                     LEASEHOLD_VERSION, roff(name), roff(summary));
}

std::string paragraphs(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", at), text.size());
    result += fmt::format("{}{}\n", at == 0 ? "" : ".PP\n", roff(text.substr(at, end - at)));
    at = end + 2;
  }
  return result;
}

std::string entry(std::string_view name, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(text));
}

std::string option_entry(const OptionSpec& option) {
  std::string names;
  for (const char c : option.names) names += c == ',' ? std::string(", ") : std::string(1, c);
  std::string text(option.text);
  if (!option.choices.empty()) {
    text += ": ";
    for (const char c : option.choices) text += c == ' ' ? std::string(", ") : std::string(1, c);
  }
  if (option.repeats) text += " (may be repeated)";
  return fmt::format(".TP\n\\fB{}\\fR{}{}\n{}.\n", roff(names), option.value.empty() ? "" : " ",
                     option.value.empty() ? "" : fmt::format("\\fI{}\\fR", roff(option.value)), roff(text));
}

std::string exit_statuses() {
  std::map<int, std::string> names;
  for (const CodeInfo& row : code_table()) {
    std::string& text = names[row.exit_code];
    text += fmt::format("{}{}", text.empty() ? "" : ", ", row.name);
  }
  std::string text = ".SH EXIT STATUS\n" + entry("0", "done");
  for (const auto& [status, codes] : names) text += entry(std::to_string(status), codes);
  return text;
}

std::string environment() {
  return ".SH ENVIRONMENT\n" +
         entry("LEASE_AGENT, LEASE_SESSION, LEASE_PR", "Who acts, unless flags say so.") +
         entry("LEASE_STORE, LEASE_PROFILE, LEASE_TTL, ...", "Settings; lease config list names them all.") +
         entry("NO_COLOR, FORCE_COLOR", "Whether output is coloured.");
}

}  // namespace

std::string man_page() {
  std::string text = head("lease", "file leases for fleets of coding agents");
  text += ".SH SYNOPSIS\n.B lease\n.I COMMAND\n[\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\n";
  text += paragraphs(
      "Gives each file one owner at a time: leases with a time to live, all or nothing over many files with "
      "their "
      "tests, fair queues, fencing tokens, dead owners found and reclaimed, handoff, and a complete "
      "history.");
  text += ".SH COMMANDS\n";
  for (const Command* command : commands())
    text += entry(fmt::format("lease-{}(1)", command->name), fmt::format("{}.", command->summary));
  text += exit_statuses() + environment();
  text += ".SH FILES\n" + entry(".leasehold.toml", "Settings and pair rules of a project, at its root.") +
          entry("$XDG_CONFIG_HOME/leasehold/config.toml", "Settings of a user.") +
          entry(".git/leasehold, .leasehold", "The embedded store.");
  return text;
}

std::string man_page(const Command& command) {
  const std::string name = fmt::format("lease-{}", command.name);
  std::string text = head(name, command.summary);
  text += ".SH SYNOPSIS\n";
  std::string_view forms = command.synopsis;
  do {
    const std::size_t end = std::min(forms.find('\n'), forms.size());
    text += fmt::format(".B lease {}\n{}.br\n", roff(command.name),
                        end == 0 ? std::string() : fmt::format("{}\n", roff(forms.substr(0, end))));
    forms.remove_prefix(std::min(end + 1, forms.size()));
  } while (!forms.empty());
  text += ".SH DESCRIPTION\n" + paragraphs(command.description);
  if (!command.operands.name.empty())
    text += ".SH ARGUMENTS\n" + entry(command.operands.name, command.operands.text);
  text += ".SH OPTIONS\n";
  for (const OptionGroup& group : option_groups(command).groups) {
    for (const OptionSpec& option : group.options) text += option_entry(option);
  }
  if (!command.examples.empty()) text += ".SH EXAMPLES\n";
  for (const Example& example : command.examples) text += entry(example.command, example.text);
  return text + exit_statuses() + ".SH SEE ALSO\n.BR lease (1)\n";
}

}  // namespace leasehold
