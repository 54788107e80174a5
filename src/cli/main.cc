#include <fmt/format.h>
#include <malloc.h>
#include <sqlite3.h>
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "cli/beside.h"
#include "cli/call.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "run/standard_descriptors.h"

namespace leasehold {
namespace {

using Words = std::span<const std::string_view>;

// Other programs taught people to write these.
std::string_view without_dashes(std::string_view name) {
  if (name == "--version") return kVersion.name;
  return name;
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// One that can do more than print.
bool is_terminal(int descriptor) {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

bool is_coloured(const std::optional<std::string>& when, int descriptor) {
  if (when == "always") return true;
  if (when == "never") return false;
  if (is_set("NO_COLOR")) return false;
  if (is_set("FORCE_COLOR") || is_set("CLICOLOR_FORCE")) return true;
  return is_terminal(descriptor);
}

// Before the arguments are understood, and should they not be: an error in the form that was asked for.
Output before_parsing(Words words) {
  const auto end = std::ranges::find(words, "--");
  return Output({.json = std::find(words.begin(), end, "--json") != end});
}

Output output_for(const Arguments& arguments) {
  const auto when = arguments.text("color");
  return Output({.json = arguments.has("json"),
                 .quiet = arguments.has("quiet"),
                 .verbose = arguments.has("verbose"),
                 .colour_out = is_coloured(when, STDOUT_FILENO),
                 .colour_err = is_coloured(when, STDERR_FILENO),
                 .terminal_err = is_terminal(STDERR_FILENO)});
}

// Becomes the program that has the command. Returns why it could not.
Error run_beside(const Command& command, Words words) {
  std::vector<std::string> texts = {std::string(command.name)};
  texts.insert(texts.end(), words.begin(), words.end());
  return {Code::unavailable, fmt::format("{}. It is installed together with lease; install both.",
                                         become_program_beside(command.program, std::move(texts)))};
}

int run(Words words) {
  const std::size_t leading = leading_options(words);
  const bool is_named = leading < words.size();
  const std::string_view name = is_named ? without_dashes(words[leading]) : kHelp.name;
  std::vector<std::string_view> rest(words.begin(), words.end());
  if (is_named) {
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(leading));
  } else {
    std::erase_if(rest, [](std::string_view word) { return word == "--help" || word == "-h"; });
  }
  const Command* const command = find_command(name);
  if (command == nullptr) return report(before_parsing(rest), no_such_command(name));
  auto arguments = Arguments::parse(*command, rest);
  if (!arguments) return report(before_parsing(rest), arguments.error());
  const Output output = output_for(*arguments);
  if (arguments->has("help")) {
    Output({}).print(help_text(*command));
    return 0;
  }
  if (!command->program.empty()) return report(output, run_beside(*command, rest));
  // Never taken down: the kernel takes files and memory back in less time, and an agent waits for it.
  Call& call = *new Call(*command, rest, *std::move(arguments), output);
  // Read when it is needed, a wrong one would be told only after the wait, and instead of who is in the way.
  if (const auto chosen = call.exit_status(Code::busy); !chosen) return report(output, chosen.error());
  const Result<int> status = command->run(call);
  return status ? *status : report(output, status.error());
}

// An answer that nobody can read is no answer: a full disk must not look like success.
int run_and_flush(Words words) {
  int status = 0;
  try {
    status = run(words);
  } catch (const std::exception& thrown) {  // No memory, no thread: nobody on the way could help it.
    write_error(fmt::format("lease: Cannot go on: {}. Look at the limits of this process (ulimit -a).\n",
                            thrown.what()));
    status = EX_OSERR;
  }
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  write_error("lease: Cannot write to standard output. Check where it goes.\n");
  return EX_IOERR;
}

}  // namespace
}  // namespace leasehold

int main(int count, char** values) {
  // A cold start is most of what a call costs: memory in one piece, and nobody asks SQLite how much it has.
  mallopt(M_TOP_PAD, 512 * 1024);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  leasehold::keep_standard_descriptors();
  const std::vector<std::string_view> words(values + std::min(count, 1), values + count);
  // Without the destructors of what is static: a store that is still open may have threads that use it.
  std::_Exit(leasehold::run_and_flush(words));
}
