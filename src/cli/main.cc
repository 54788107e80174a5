#include <fmt/format.h>
#include <sysexits.h>

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <vector>

#include "cli/command.h"
#include "leasehold/error.h"
#include "run/standard_descriptors.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using Arguments = std::span<const std::string_view>;

int bad_usage(std::string_view message) {
  fmt::print(stderr, "lease: {}\n", message);
  return info(Code::invalid_argument).exit_code;
}

// Other programs taught people to write these.
std::string_view without_dashes(std::string_view name) {
  if (name == "--help" || name == "-h") return kHelp.name;
  if (name == "--version") return kVersion.name;
  return name;
}

int run(Arguments arguments) {
  if (arguments.empty()) return kHelp.run({});
  const std::string_view name = arguments.front();
  const auto all = commands();
  const auto found = std::ranges::find(all, without_dashes(name), &Command::name);
  if (found == all.end()) {
    // Enough of it to be recognised: it may be a whole file that was passed by mistake.
    constexpr std::size_t kShownBytes = 40;
    const std::string shown =
        in_quotes(name.substr(0, kShownBytes)) + (name.size() > kShownBytes ? "..." : "");
    return bad_usage(fmt::format("There is no command {}. See: lease help", shown));
  }
  const Command& command = **found;
  const Arguments rest = arguments.subspan(1);
  if (rest.size() > command.arguments_max) {
    return bad_usage(fmt::format("{} takes no argument {}. Usage: {}", command.name,
                                 in_quotes(rest[command.arguments_max].substr(0, 40)), command.usage));
  }
  return command.run(rest);
}

// An answer that nobody can read is no answer: a full disk must not look like success.
int run_and_flush(Arguments arguments) {
  int status = 0;
  bool written = true;
  try {
    status = run(arguments);
  } catch (const std::system_error&) {  // fmt::print, when standard output takes no more.
    written = false;
  }
  if (written && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  fmt::print(stderr, "lease: Cannot write to standard output. Check where it goes.\n");
  return EX_IOERR;
}

}  // namespace
}  // namespace leasehold

int main(int count, char** values) {
  leasehold::keep_standard_descriptors();
  const std::vector<std::string_view> arguments(values + std::min(count, 1), values + count);
  return leasehold::run_and_flush(arguments);
}
