// Completion scripts, written from the table of commands.
#include <fmt/format.h>

#include "cli/call.h"
#include "cli/commands.h"

namespace leasehold {
namespace {

constexpr std::string_view kShells = "bash zsh fish";

std::string all_names() {
  std::string names;
  for (const Command* command : commands())
    names += fmt::format("{}{}", names.empty() ? "" : " ", command->name);
  return names;
}

// "-q,--quiet" -> "-q --quiet".
std::string spaced(std::string_view names) {
  std::string text(names);
  for (char& c : text) c = c == ',' ? ' ' : c;
  return text;
}

std::string option_names(const Command& command) {
  std::string names;
  for (const OptionGroup& group : option_groups(command).groups) {
    for (const OptionSpec& option : group.options) names += spaced(option.names) + " ";
  }
  return names;
}

std::string words_of(const Command& command) {
  if (&command == &kHelp) return all_names();
  if (&command == &kConfig) return "list get set unset";
  return std::string(command.operands.choices);
}

std::string bash_script() {
  std::string cases;
  std::string values;
  for (const Command* command : commands()) {
    cases += fmt::format("    {}) options='{}' words='{}' ;;\n", command->name, option_names(*command),
                         words_of(*command));
    for (const OptionGroup& group : option_groups(*command).groups) {
      for (const OptionSpec& option : group.options) {
        if (option.choices.empty()) continue;
        values += fmt::format("    {}:{}) COMPREPLY=($(compgen -W '{}' -- \"$current\")); return ;;\n",
                              command->name, option.names, option.choices);
      }
    }
  }
  return fmt::format(R"(# bash completion for lease
_lease() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  local options='' words=''
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$current"))
    return
  fi
  case $command:$previous in
{}  esac
  case $command in
{}  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _lease lease
)",
                     all_names(), values, cases);
}

// Inside single quotes, for zsh.
std::string quoted(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else if (c == '[' || c == ']' || c == ':') {
      result += fmt::format("\\{}", c);
    } else {
      result += c;
    }
  }
  return result;
}

std::string zsh_option(const OptionSpec& option) {
  const std::string_view long_form = option.names.substr(option.names.find("--"));
  std::string text =
      fmt::format("      '{}{}[{}]", option.repeats ? "*" : "", long_form, quoted(option.text));
  if (!option.value.empty()) {
    text += fmt::format(":{}:", option.value);
    if (!option.choices.empty()) text += fmt::format("({})", option.choices);
    if (option.value == "DIR") text += "_files -/";
  }
  return text + "' \\\n";
}

std::string zsh_script() {
  std::string names;
  std::string cases;
  for (const Command* command : commands()) {
    names += fmt::format("    '{}:{}'\n", command->name, quoted(command->summary));
    cases += fmt::format("    {}) _arguments \\\n", command->name);
    for (const OptionGroup& group : option_groups(*command).groups) {
      for (const OptionSpec& option : group.options) cases += zsh_option(option);
    }
    const std::string words = words_of(*command);
    cases += words.empty() ? "      '*:file:_files' ;;\n" : fmt::format("      '*:word:({})' ;;\n", words);
  }
  return fmt::format(R"(#compdef lease
_lease() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_lease "$@"
)",
                     names, cases);
}

// Inside single quotes, for fish.
std::string fish_quoted(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string fish_script() {
  std::string text = "# fish completion for lease\n";
  for (const Command* command : commands()) {
    text += fmt::format("complete -c lease -n __fish_use_subcommand -f -a {} -d '{}'\n", command->name,
                        fish_quoted(command->summary));
    const std::string when = fmt::format("-n '__fish_seen_subcommand_from {}'", command->name);
    for (const OptionGroup& group : option_groups(*command).groups) {
      for (const OptionSpec& option : group.options) {
        const std::size_t dashes = option.names.find("--");
        text += fmt::format("complete -c lease {} -l {}", when, option.names.substr(dashes + 2));
        if (dashes > 0) text += fmt::format(" -s {}", option.names.substr(1, 1));
        if (!option.value.empty()) text += " -r";
        if (!option.choices.empty()) text += fmt::format(" -f -a '{}'", option.choices);
        text += fmt::format(" -d '{}'\n", fish_quoted(option.text));
      }
    }
    if (const std::string words = words_of(*command); !words.empty())
      text += fmt::format("complete -c lease {} -f -a '{}'\n", when, words);
  }
  return text;
}

Result<int> run(Call& call) {
  const std::string& shell = call.arguments().operands().front();
  const std::string script = shell == "bash" ? bash_script() : shell == "zsh" ? zsh_script() : fish_script();
  if (call.out().json()) {
    call.out().document({{"shell", shell}, {"script", script}});
  } else {
    call.out().print(script);
  }
  return 0;
}

constexpr Example kExamples[] = {{"source <(lease completion bash)", "for this shell"}};

}  // namespace

const Command kCompletion = {
    .name = "completion",
    .synopsis = "bash | zsh | fish",
    .summary = "Print a completion script for a shell",
    .description =
        "Prints a script that completes commands, options and their values. Packages install them; else "
        "source it, or "
        "put it where your shell looks for them.",
    .uses = Uses::nothing,
    .operands = {"SHELL", "The shell to print it for", 1, 1, kShells},
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
