#include "init/host_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "init/codex_toml.h"
#include "util/path_text.h"
#include "util/toml.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

// Files that look right and that the host does not read.
struct WrongPlace {
  HookHost host;
  std::string_view file;
};
constexpr WrongPlace kWrongPlaces[] = {
    {HookHost::claude_code, ".claude/hooks.json"},   {HookHost::claude_code, ".claude/hooks/hooks.json"},
    {HookHost::codex, ".codex/settings.json"},       {HookHost::gemini, ".gemini/hooks.json"},
    {HookHost::copilot, ".github/hooks.json"},       {HookHost::copilot, ".copilot/hooks/leasehold.json"},
    {HookHost::cursor, ".cursor/settings.json"},     {HookHost::opencode, ".opencode/leasehold.js"},
    {HookHost::windsurf, ".windsurf/settings.json"}, {HookHost::cline, ".clinerules/PreToolUse"},
};

std::string text_of(const std::string& path) {
  auto text = read_settings(path);
  return text && *text ? std::move(**text) : std::string();
}

std::string home_of(HookHost host, const Variables& variables) {
  const auto value = [&](std::string_view name) -> std::string {
    const char* const found = name.empty() ? nullptr : variables(std::string(name).c_str());
    return found == nullptr ? "" : found;
  };
  const HostSigns& signs = signs_of(host);
  const std::string own = value(signs.home_variable);
  return own.empty() ? join(value("HOME"), signs.home_folder) : own;
}

const TomlTable* table_at(const TomlTable* table, std::string_view name) {
  const TomlValue* value = table == nullptr ? nullptr : table->find(name);
  return value == nullptr ? nullptr : value->as<TomlTable>();
}

bool is_false(const TomlTable* table, std::string_view name) {
  const TomlValue* const value = table == nullptr ? nullptr : table->find(name);
  const bool* const flag = value == nullptr ? nullptr : value->as<bool>();
  return flag != nullptr && !*flag;
}

bool codex_distrusts(const TomlTable& settings, const std::string& root) {
  const TomlTable* const project = table_at(table_at(&settings, "projects"), root);
  const TomlValue* const level = project == nullptr ? nullptr : project->find("trust_level");
  const std::string* const word = level == nullptr ? nullptr : level->as<std::string>();
  return word != nullptr && *word == "untrusted";
}

// Codex keeps in its user's settings which hooks were approved, by the file they stand in and their event.
// Only that, not whether they are still the same: what it compares is its own affair.
bool codex_runs_hooks(const std::string& root, const Variables& variables) {
  const auto settings = parse_toml(text_of(join(home_of(HookHost::codex, variables), "config.toml")));
  const auto project = parse_toml(text_of(join(root, kCodexToml)));
  if (!settings || codex_distrusts(*settings, root) || is_false(table_at(&*settings, "features"), "hooks") ||
      (project && is_false(table_at(&*project, "features"), "hooks")))
    return false;
  const TomlTable* const approved = table_at(table_at(&*settings, "hooks"), "state");
  return approved != nullptr && std::ranges::any_of(approved->entries, [&](const TomlEntry& entry) {
           const bool is_ours = entry.key.starts_with(join(root, hooks_file(HookHost::codex))) ||
                                entry.key.starts_with(join(root, kCodexToml));
           return is_ours && entry.key.contains(":pre_tool_use:") &&
                  !is_false(entry.value.as<TomlTable>(), "enabled");
         });
}

bool copilot_trusts(const std::string& root, const Variables& variables) {
  return text_of(join(home_of(HookHost::copilot, variables), "config.json")).contains('"' + root + '"');
}

// A setting by which a host's user switches all hooks off. Of several files the first that has it counts.
struct OffSwitch {
  HookHost host;
  std::string_view group;  // Empty: it stands by itself.
  std::string_view name;
  bool off;
  std::vector<std::string_view> project_files;
};
const OffSwitch kOffSwitches[] = {
    {HookHost::claude_code,
     "",
     "disableAllHooks",
     true,
     {".claude/settings.local.json", ".claude/settings.json"}},
    {HookHost::gemini, "hooksConfig", "enabled", false, {".gemini/settings.json"}},
};
constexpr std::string_view kUserFile = "settings.json";  // In the host's own folder.

// What an install would change.
std::string difference(const InitPlan& plan) {
  const auto only_mode = [](const InitStep& step) {
    const auto* const change = std::get_if<FileChange>(&step);
    return change != nullptr && change->lacks_mode && change->before == change->after;
  };
  if (!std::ranges::all_of(plan.steps, only_mode))
    return "its hooks are not those of this version and these settings";
  return fmt::format("{} cannot be run (its mode)",
                     in_sentence(std::get<FileChange>(plan.steps.front()).path));
}

std::optional<bool> value_in(const std::string& file, const OffSwitch& one) {
  namespace json = boost::json;
  boost::system::error_code error;
  json::parse_options options;
  options.allow_comments = true;
  const json::value value = json::parse(text_of(file), error, {}, options);
  const json::object* place = error ? nullptr : value.if_object();
  if (place != nullptr && !one.group.empty()) {
    const json::value* const group = place->if_contains(one.group);
    place = group == nullptr ? nullptr : group->if_object();
  }
  const json::value* const found = place == nullptr ? nullptr : place->if_contains(one.name);
  const bool* const flag = found == nullptr ? nullptr : found->if_bool();
  return flag == nullptr ? std::nullopt : std::optional(*flag);
}

std::optional<std::string> switched_off(const std::string& root, const OffSwitch& one,
                                        const Variables& variables) {
  std::vector<std::string> files;
  for (const std::string_view file : one.project_files) files.push_back(join(root, file));
  files.push_back(join(home_of(one.host, variables), kUserFile));
  for (const std::string& file : files) {
    const auto value = value_in(file, one);
    if (!value) continue;
    if (*value != one.off) return std::nullopt;
    return fmt::format("all its hooks are switched off ({}{}{} in {}). Take that out.", one.group,
                       one.group.empty() ? "" : ".", one.name, in_sentence(file));
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> host_problems(const InitRequest& project, HookHost host,
                                       const Variables& variables) {
  std::vector<std::string> problems;
  const std::string& root = project.workspace.root;
  InitRequest alone = project;
  alone.hosts = {host};
  alone.git.reset();
  alone.project_settings = false;
  const std::string again = fmt::format("Run: lease init --agents {}", word(host));
  const auto plan = plan_install(alone);
  if (!plan) {
    problems.push_back(plan.error().message);
  } else if (!plan->refused.empty()) {
    problems.push_back(plan->refused.front().error.message);
  } else if (!plan->steps.empty()) {
    problems.push_back(difference(*plan) + ". " + again);
  }
  for (const WrongPlace& place : kWrongPlaces) {
    if (place.host != host || !text_of(join(root, place.file)).contains("lease hook")) continue;
    problems.push_back(fmt::format("it does not read {}, which calls lease. {}", place.file, again));
  }
  for (const OffSwitch& one : kOffSwitches) {
    if (one.host != host) continue;
    if (auto problem = switched_off(root, one, variables)) problems.push_back(*std::move(problem));
  }
  const bool is_refused = (host == HookHost::codex && !codex_runs_hooks(root, variables)) ||
                          (host == HookHost::copilot && !copilot_trusts(root, variables));
  if (is_refused)
    problems.push_back(fmt::format("it seems not to be allowed to run them. {}", condition_of(host)));
  if (project.wishes.fail_open) {
    problems.emplace_back(
        "writes that cannot be checked go through (gate_fail_open in .leasehold.toml). Take that out to have "
        "them refused, and run lease init");
  }
  return problems;
}

}  // namespace leasehold
