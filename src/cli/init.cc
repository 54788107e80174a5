#include "init/init.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <cstdlib>

#include "cli/call.h"
#include "cli/commands.h"
#include "util/path_text.h"
#include "util/unique.h"
#include "util/utf8.h"
#include "util/variables.h"

namespace leasehold {
namespace {

Result<std::vector<HookHost>> named_hosts(std::string_view list) {
  std::vector<HookHost> hosts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const auto host = host_named(list.substr(0, end));
    if (!host) {
      return fail(Code::invalid_argument, fmt::format("There are no hooks for {}. There are for: {}.",
                                                      in_quotes(list.substr(0, end)), host_words(", ")));
    }
    add_unique(hosts, *host);  // One named twice is meant once.
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return hosts;
}

Result<InitRequest> request_of(const Call& call) {
  const Arguments& arguments = call.arguments();
  const auto place = call.place();
  if (!place) return fail(place.error());
  auto workspace = find_workspace(*place);
  if (!workspace) return fail(workspace.error());

  InitRequest request = {.workspace = std::move(*workspace), .variables = own_variable};
  request.wishes = wishes_of(request.workspace);
  const bool uninstall = arguments.has("uninstall");
  const auto agents = arguments.text("agents");
  const bool all = uninstall && !agents && !arguments.has("git-hooks");
  request.project_settings = !uninstall || all;
  if (agents) {
    auto hosts = named_hosts(*agents);
    if (!hosts) return fail(hosts.error());
    request.hosts = std::move(*hosts);
  } else if (all) {
    request.hosts.assign(all_hosts().begin(), all_hosts().end());
  } else if (!uninstall) {
    request.hosts = installed_hosts(request.workspace.root, own_variable);
  }
  if (arguments.has("git-hooks") || (all && request.workspace.git_common_dir)) {
    auto git = find_git_place(request.workspace.root, request.workspace.git_common_dir);
    if (git) {
      request.git = std::move(*git);
    } else {
      request.no_git = git.error();
    }
  }
  return request;
}

// As seen from the top of the project, if it is inside.
std::string shown(const std::string& path, const std::string& root) {
  const auto inside = below(path, root);
  return inside ? std::string(inside->substr(1)) : path;
}

struct ToldStep {
  std::string path;
  std::string_view action;
  std::string diff;
};

ToldStep told(const InitStep& step, const std::string& root) {
  if (const auto* change = std::get_if<FileChange>(&step)) {
    const std::string name = shown(change->path, root);
    return {name,
            !change->before  ? "create"
            : !change->after ? "remove"
                             : "change",
            unified_diff(*change, name)};
  }
  if (const auto* move = std::get_if<FileMove>(&step))
    return {shown(move->from, root), "move", fmt::format("moved to {}\n", shown(move->to, root))};
  const auto& section = std::get<GitSection>(step);
  std::string lines = fmt::format("{}[{}]\n", section.values.empty() ? '-' : '+', section.name);
  for (const auto& [name, value] : section.values)
    lines += fmt::format("+  {} = {}\n", name, in_quotes(value));
  return {"git's configuration", section.values.empty() ? "remove" : "change", lines};
}

// What is left for people to do, so that agents really ask.
std::vector<std::string> next_steps(const Call& call, const InitRequest& request, const InitPlan& plan) {
  std::vector<std::string> steps;
  if (!on_path("lease", own_variable))
    steps.emplace_back("Put lease on PATH: the hooks call it by its name.");
  for (const HookHost host : request.hosts) {
    const bool is_left_out =
        std::ranges::find(plan.refused, word(host), &Refusal::part) != plan.refused.end();
    if (!is_left_out && !condition_of(host).empty()) steps.emplace_back(condition_of(host));
  }
  if (request.hosts.empty() && !call.arguments().has("agents"))
    steps.emplace_back("No agent was found. Name those you use: lease init --agents claude-code,codex");
  if (!request.hosts.empty()) steps.emplace_back("See it work: lease doctor");
  return steps;
}

boost::json::array refusals(const InitPlan& plan) {
  boost::json::array all;
  for (const Refusal& one : plan.refused)
    all.push_back(boost::json::object{{"part", one.part}, {"message", one.error.message}});
  return all;
}

void answer(const Call& call, const InitRequest& request, const InitPlan& plan, bool dry_run) {
  const bool uninstall = call.arguments().has("uninstall");
  boost::json::array changes;
  std::string text;
  for (const InitStep& step : plan.steps) {
    const ToldStep one = told(step, request.workspace.root);
    changes.push_back(boost::json::object{{"path", one.path}, {"action", one.action}, {"diff", one.diff}});
    text += fmt::format("{} {}\n{}\n", one.action, one.path, one.diff);
  }
  if (plan.is_done())
    text = uninstall ? "There is nothing of ours here.\n" : "Everything is in place already.\n";
  const std::vector<std::string> next =
      uninstall ? std::vector<std::string>() : next_steps(call, request, plan);
  boost::json::array hosts;
  for (const HookHost host : request.hosts) hosts.push_back(boost::json::string(word(host)));
  if (call.out().json()) {
    call.out().document({{"dry_run", dry_run},
                         {"agents", std::move(hosts)},
                         {"changes", std::move(changes)},
                         {"refused", refusals(plan)},
                         {"next", boost::json::array(next.begin(), next.end())}});
    return;
  }
  if (dry_run && !plan.steps.empty()) text += "Nothing was written (--dry-run).\n";
  call.out().print(text);
  for (const std::string& line : next) call.out().note(line);
  for (const Refusal& one : plan.refused)
    call.out().complain(fmt::format("{}: {} Nothing was changed for it.", one.part, one.error.message));
}

// Nothing of what was asked for can be done.
Result<void> check_any(const InitRequest& request, const InitPlan& plan) {
  const auto is_part = [&](const Refusal& one) { return !one.part.contains(' '); };
  const auto refused = static_cast<std::size_t>(std::ranges::count_if(plan.refused, is_part));
  if (refused == 0 || refused < request.hosts.size() + (request.git || request.no_git ? 1 : 0)) return {};
  std::string text;
  for (const Refusal& one : plan.refused) text += fmt::format("{}: {}\n", one.part, one.error.message);
  return fail(plan.refused.front().error.code, text + "Nothing was changed.");
}

Result<int> run(Call& call) {
  const auto request = request_of(call);
  if (!request) return fail(request.error());
  const auto plan = call.arguments().has("uninstall") ? plan_uninstall(*request) : plan_install(*request);
  if (!plan) return fail(plan.error());
  if (auto any = check_any(*request, *plan); !any) return fail(any.error());
  const bool dry_run = call.arguments().has("dry-run");
  if (!dry_run) {
    if (auto done = carry_out(*plan, request->workspace.root); !done) return fail(done.error());
  }
  answer(call, *request, *plan, dry_run);
  return plan->refused.empty() ? 0 : info(plan->refused.front().error.code).exit_code;
}

constexpr OptionSpec kOptions[] = {
    {"--agents", "LIST", "For these agents, with commas between, instead of those that are installed"},
    {"--git-hooks", {}, "Also look at commits: git's pre-commit, pre-merge-commit and post-commit"},
    {"--dry-run", {}, "Show what would change, and change nothing"},
    {"--uninstall", {}, "Take it all back; with --agents or --git-hooks only that"},
    {"-C,--workspace", "DIR", "Work as if started in this folder"},
};

constexpr Example kExamples[] = {
    {"lease init", "for the agents that are installed"},
    {"lease init --agents claude-code --git-hooks", "and for commits"},
    {"lease init --dry-run --uninstall", "what would be taken back"},
};

}  // namespace

const Command kInit = {
    .name = "init",
    .synopsis = "[--agents LIST] [--git-hooks] [--dry-run] [--uninstall]",
    .summary = "Let the agents of this project ask before they write",
    .description =
        "Adds lease to the hooks of Claude Code, Codex, Gemini CLI, Copilot, Cursor, OpenCode, Windsurf and "
        "Cline, in the files of this project where each reads them, makes a .leasehold.toml, and shows every "
        "change. What is in those files stays as it is, byte for byte; an "
        "agent with a file that is no JSON or TOML is left out, and said. Running it again changes nothing. "
        "--uninstall takes out what was put "
        "in, and "
        "nothing else. Hooks of git are added to those that are there: husky's, pre-commit's and lefthook's "
        "as well.",
    .uses = Uses::nothing,
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
