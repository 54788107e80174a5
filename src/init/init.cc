#include "init/init.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <system_error>

#include "init/codex_toml.h"
#include "init/default_settings.h"
#include "init/git_place.h"
#include "util/path_text.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

constexpr HookHost kHosts[] = {HookHost::claude_code, HookHost::codex};

// Where it stands in front of what is wrong, as compilers say it; and what became of it.
std::unexpected<Error> not_understood(const std::string& path, const Error& error) {
  return fail(Code::config_error,
              fmt::format("{}:{}. Nothing was changed.", in_sentence(path), error.message));
}

void add_if_needed(InitPlan& plan, FileChange change) {
  if (change.is_needed()) plan.emplace_back(std::move(change));
}

// Our groups stand in JSON, unless the project's Codex has its hooks in TOML: it warns of two places.
Result<void> plan_host(const InitRequest& request, HookHost host, bool install, InitPlan& plan) {
  const std::vector<HookGroup> groups = hook_groups(host, request.wishes);
  bool in_json = install;
  if (host == HookHost::codex) {
    const std::string path = join(request.workspace.root, kCodexToml);
    auto text = read_settings(path);
    if (!text) return fail(text.error());
    const auto has_hooks = has_codex_hooks(*text);
    if (!has_hooks) return not_understood(path, has_hooks.error());
    const bool in_toml = install && *has_hooks;
    const auto after = in_toml ? with_codex_hooks(*text, groups) : without_codex_hooks(*text);
    if (!after) return not_understood(path, after.error());
    add_if_needed(plan, {path, *text, *after, true});
    in_json = install && !in_toml;
  }
  const std::string path = join(request.workspace.root, hooks_file(host));
  auto text = read_settings(path);
  if (!text) return fail(text.error());
  FileText after;
  if (in_json) {
    auto with = with_groups(*text, host, groups);
    if (!with) return not_understood(path, with.error());
    after = std::move(*with);
  } else {
    auto without = without_groups(*text, host);
    if (!without) return not_understood(path, without.error());
    after = std::move(*without);
  }
  add_if_needed(plan, {path, *text, after, true});
  return {};
}

template <class Item>
void add_all(InitPlan& plan, std::vector<Item> items) {
  for (Item& item : items) plan.emplace_back(std::move(item));
}

Result<void> move(const FileMove& step) {
  // A link is moved itself, so access(2), which follows it, would not do.
  char ignored[1];
  if (::readlink(step.to.c_str(), ignored, sizeof ignored) >= 0 || ::access(step.to.c_str(), F_OK) == 0) {
    return fail(Code::unavailable, fmt::format("Cannot move {} to {}: that is there already.",
                                               in_quotes(step.from), in_quotes(step.to)));
  }
  if (::rename(step.from.c_str(), step.to.c_str()) == 0) return {};
  return fail(Code::unavailable, fmt::format("Cannot move {}: {}.", in_quotes(step.from),
                                             std::error_code(errno, std::generic_category()).message()));
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string value_of(const Lookup& variables, std::string_view name) {
  const char* const value = variables(std::string(name).c_str());
  return value == nullptr ? "" : value;
}

}  // namespace

Result<InitPlan> plan_install(const InitRequest& request) {
  InitPlan plan;
  if (request.project_settings && !request.workspace.config_file) {
    plan.emplace_back(
        FileChange{join(request.workspace.root, kConfigFileName), {}, std::string(default_settings())});
  }
  for (const HookHost host : request.hosts) {
    if (auto done = plan_host(request, host, true, plan); !done) return fail(done.error());
  }
  if (request.git) {
    auto hooks = plan_git_hooks(*request.git);
    if (!hooks) return fail(hooks.error());
    add_all(plan, std::move(hooks->moves));
    add_all(plan, std::move(hooks->files));
    add_all(plan, std::move(hooks->sections));
  }
  return plan;
}

Result<InitPlan> plan_uninstall(const InitRequest& request) {
  InitPlan plan;
  for (const HookHost host : request.hosts) {
    if (auto done = plan_host(request, host, false, plan); !done) return fail(done.error());
  }
  if (request.git) {
    auto hooks = plan_without_git_hooks(*request.git);
    if (!hooks) return fail(hooks.error());
    add_all(plan, std::move(hooks->files));
    add_all(plan, std::move(hooks->moves));
    add_all(plan, std::move(hooks->sections));
  }
  if (request.project_settings) {
    const std::string path = join(request.workspace.root, kConfigFileName);
    auto text = read_settings(path);
    if (!text) return fail(text.error());
    if (*text == default_settings()) plan.emplace_back(FileChange{path, *text, {}});
  }
  return plan;
}

Result<void> carry_out(const InitPlan& plan, const std::string& root) {
  for (const InitStep& step : plan) {
    Result<void> done;
    if (const auto* change = std::get_if<FileChange>(&step)) done = apply(*change);
    if (const auto* moved = std::get_if<FileMove>(&step)) done = move(*moved);
    if (const auto* section = std::get_if<GitSection>(&step)) done = set_git_section(root, *section);
    if (!done) return done;
  }
  return {};
}

std::optional<std::string> on_path(std::string_view program, const Lookup& variables) {
  const std::string path = value_of(variables, "PATH");
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    std::string file = join(path.substr(begin, end - begin), program);
    if (file.starts_with('/') && ::access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return std::nullopt;
}

std::vector<HookHost> installed_hosts(const std::string& root, const Lookup& variables) {
  std::vector<HookHost> hosts;
  for (const HookHost host : kHosts) {
    const HostSigns& signs = signs_of(host);
    std::string home = value_of(variables, signs.home_variable);
    if (home.empty()) home = join(value_of(variables, "HOME"), signs.home_folder);
    if (on_path(signs.program, variables) || is_there(home) || is_there(join(root, signs.project_folder)))
      hosts.push_back(host);
  }
  return hosts;
}

bool calls_us(const std::string& root, HookHost host) {
  const auto text = read_settings(join(root, hooks_file(host)));
  if (text) {
    const auto bare = without_groups(*text, host);
    if (bare && *bare != *text) return true;
  }
  if (host != HookHost::codex) return false;
  const auto toml = read_settings(join(root, kCodexToml));
  if (!toml) return false;
  const auto bare = without_codex_hooks(*toml);
  return bare && *bare != *toml;
}

}  // namespace leasehold
