#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answers.h"
#include "cli/commands.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using boost::json::array;
using boost::json::object;

object document(const std::vector<WantedPath>& wanted) {
  array pairs;
  for (const WantedPath& one : wanted) {
    if (one.requested) continue;
    pairs.push_back(object{{"path", one.path},
                           {"paired_with", array(one.paired_with.begin(), one.paired_with.end())},
                           {"rule", one.rule}});
  }
  return {{"pairs", std::move(pairs)}};
}

std::string text(const std::vector<WantedPath>& wanted) {
  std::string lines;
  for (const WantedPath& one : wanted) {
    if (one.requested || one.paired_with.empty()) continue;
    lines += fmt::format("{}  comes with {} (rule {})\n", in_sentence(one.path),
                         in_sentence(one.paired_with.front()), in_sentence(one.rule));
  }
  return lines;
}

Result<int> run(Call& call) {
  const auto workspace = call.workspace_without_store();
  if (!workspace) return fail(workspace.error());
  auto paths = call.paths();
  if (!paths) return fail(paths.error());
  std::vector<AskedPath> asked;
  for (std::string& path : *paths) asked.push_back({std::move(path)});
  const auto wanted = (*workspace)->wanted(asked, {.cwd = call.cwd()});
  if (!wanted) return fail(wanted.error());
  if (call.out().json()) {
    call.out().document(document(*wanted));
  } else {
    call.out().print(text(*wanted));
  }
  return 0;
}

constexpr OptionSpec kOptions[] = {kNullOption};
constexpr Example kExamples[] = {{"lease pairs src/a.ts", "what lease acquire src/a.ts would add"}};

}  // namespace

const Command kPairs = {
    .name = "pairs",
    .synopsis = "PATH...",
    .summary = "Show which tests come along with sources",
    .description =
        "Whoever changes a source nearly always changes its test, so both are leased together. Lists the "
        "existing "
        "tests of these files and the rule that found each. Rules of the project stand in .leasehold.toml.",
    .operands = {"PATH", "A source file; - reads a list from standard input", 1},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
