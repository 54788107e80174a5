#include "init/host_check.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string home_of(HookHost host, const Lookup& variables) {
  const auto value = [&](std::string_view name) -> std::string {
    const char* const found = name.empty() ? nullptr : variables(std::string(name).c_str());
    return found == nullptr ? "" : found;
  };
  const HostSigns& signs = signs_of(host);
  const std::string own = value(signs.home_variable);
  return own.empty() ? join(value("HOME"), signs.home_folder) : own;
}

bool has_key(const TomlTable* table, const auto& is_meant) {
  return table != nullptr &&
         std::ranges::any_of(table->entries, [&](const TomlEntry& entry) { return is_meant(entry.key); });
}

const TomlTable* table_at(const TomlTable* table, std::string_view name) {
  const TomlValue* value = table == nullptr ? nullptr : table->find(name);
  return value == nullptr ? nullptr : value->as<TomlTable>();
}

// Codex keeps in its user's settings which hooks were approved, by the file they stand in. Only that, not
// whether they are still the same: what it compares is its own affair.
bool codex_approved(const std::string& root, const Lookup& variables) {
  const auto settings = parse_toml(text_of(join(home_of(HookHost::codex, variables), "config.toml")));
  if (!settings) return false;
  const TomlTable* approved = table_at(table_at(&*settings, "hooks"), "state");
  return has_key(approved, [&](const std::string& key) {
    return key.starts_with(join(root, hooks_file(HookHost::codex))) ||
           key.starts_with(join(root, kCodexToml));
  });
}

bool copilot_trusts(const std::string& root, const Lookup& variables) {
  return text_of(join(home_of(HookHost::copilot, variables), "config.json")).contains('"' + root + '"');
}

}  // namespace

std::vector<std::string> host_problems(const InitRequest& project, HookHost host, const Lookup& variables) {
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
  } else if (!plan->empty()) {
    problems.push_back("its hooks are not those of this version and these settings. " + again);
  }
  for (const WrongPlace& place : kWrongPlaces) {
    if (place.host != host || !text_of(join(root, place.file)).contains("lease hook")) continue;
    problems.push_back(fmt::format("it does not read {}, which calls lease. {}", place.file, again));
  }
  const bool is_refused = (host == HookHost::codex && !codex_approved(root, variables)) ||
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
