#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <fstream>

#include "cli/call.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/man_page.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using boost::json::array;
using boost::json::object;

object command_json(const Command& command) {
  array options;
  for (const OptionGroup& group : option_groups(command).groups) {
    for (const OptionSpec& option : group.options) {
      options.push_back(object{{"names", option.names},
                               {"value", option.value},
                               {"text", option.text},
                               {"repeats", option.repeats}});
    }
  }
  return {{"name", command.name},
          {"synopsis", command.synopsis},
          {"summary", command.summary},
          {"description", command.description},
          {"options", std::move(options)}};
}

Result<int> write_man_pages(const std::string& folder) {
  const auto write = [&](std::string_view name, const std::string& text) {
    std::ofstream file(fmt::format("{}/{}.1", folder, name));
    return static_cast<bool>(file << text << std::flush);
  };
  bool written = write("lease", man_page());
  for (const Command* command : commands())
    written = written && write(fmt::format("lease-{}", command->name), man_page(*command));
  if (written) return 0;
  return fail(Code::invalid_argument,
              fmt::format("Cannot write manual pages into {}. Name a folder that you may write to.",
                          in_quotes(folder)));
}

Result<int> run(Call& call) {
  const std::vector<std::string>& names = call.arguments().operands();
  const Command* const asked = names.empty() ? nullptr : find_command(names.front());
  if (!names.empty() && asked == nullptr) return fail(no_such_command(names.front()));
  if (const auto folder = call.arguments().text("man-pages")) {
    if (folder->empty())
      return fail(Code::invalid_argument, "--man-pages has to name a folder; it is empty.");
    return write_man_pages(*folder);
  }
  if (call.arguments().has("man")) {
    call.out().print(asked == nullptr ? man_page() : man_page(*asked));
    return 0;
  }
  if (call.out().json()) {
    array all;
    for (const Command* command : commands()) {
      if (asked == nullptr || asked == command) all.push_back(command_json(*command));
    }
    call.out().document({{"commands", std::move(all)}});
  } else {
    call.out().print(asked == nullptr ? overview_text() : help_text(*asked));
  }
  return 0;
}

constexpr OptionSpec kOptions[] = {
    {"--man", {}, "Print it as a manual page, for man -l -"},
    {"--man-pages", "DIR", "Write all manual pages into this folder"},
};

}  // namespace

const Command kHelp = {
    .name = "help",
    .synopsis = "[COMMAND]",
    .summary = "Say what the commands do",
    .description = "Lists the commands, or says all about one of them, as lease COMMAND --help does.",
    .uses = Uses::nothing,
    .operands = {"COMMAND", "The command to explain", 0, 1},
    .options = kOptions,
    .run = run,
};

}  // namespace leasehold
