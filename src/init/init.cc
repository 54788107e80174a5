#include "init/init.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "init/codex_toml.h"
#include "init/default_settings.h"
#include "init/folder_mark.h"
#include "init/git_place.h"
#include "init/mcp_server.h"
#include "util/path_text.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using Steps = std::vector<InitStep>;

// Where it stands in front of what is wrong, as compilers say it; and what to do.
std::unexpected<Error> not_understood(const std::string& path, const Error& error) {
  return fail(Code::config_error,
              fmt::format("{}:{}. Mend that, and run this again.", in_sentence(path), error.message));
}

FileChange* planned_at(Steps& plan, const std::string& path) {
  for (InitStep& step : plan) {
    auto* const change = std::get_if<FileChange>(&step);
    if (change != nullptr && change->path == path) return change;
  }
  return nullptr;
}

// What a file has when all that is planned so far is done.
Result<FileText> text_at(Steps& plan, const std::string& path) {
  const FileChange* const planned = planned_at(plan, path);
  return planned == nullptr ? read_settings(path) : planned->after;
}

void add_if_needed(Steps& plan, FileChange change) {
  FileChange* const planned = planned_at(plan, change.path);
  if (planned != nullptr) {
    planned->after = std::move(change.after);
    planned->own_folders = change.own_folders;
  } else if (change.is_needed()) {
    plan.emplace_back(std::move(change));
  }
}

int folders_in(std::string_view place) { return static_cast<int>(std::ranges::count(place, '/')); }

FileChange change_at(const std::string& root, std::string_view place, FileText before, FileText after) {
  // Those that were there before a file of ours stay.
  const int kept = before && !after ? static_cast<int>(without_mark(*before).mark.size()) : 0;
  return {join(root, place), std::move(before), std::move(after), std::max(folders_in(place) - kept, 0)};
}

// What is to become of a text, apart from the mark of its folders: a file that is made gets one, another
// keeps what it has.
template <class Edit>
Result<FileText> edited(const FileText& text, std::string_view place, const std::string& root,
                        const Edit& edit) {
  const MarkedText present = without_mark(text.value_or(std::string()));
  auto after = edit(text ? FileText(present.text) : FileText());
  if (!after) return fail(after.error());
  FileText result = *std::move(after);
  if (result) *result += text ? present.mark : mark_for(join(root, place), folders_in(place));
  return result;
}

// Codex may have its hooks in TOML. Returns whether it has, so that ours are to stand there: it warns of two
// places.
Result<bool> plan_codex_toml(const InitRequest& request, bool install, Steps& plan) {
  const std::string path = join(request.workspace.root, kCodexToml);
  auto text = text_at(plan, path);
  if (!text) return fail(text.error());
  const auto has_hooks = has_codex_hooks(*text);
  if (!has_hooks) return not_understood(path, has_hooks.error());
  const bool in_toml = install && *has_hooks;
  const auto after = edited(*text, kCodexToml, request.workspace.root, [&](const FileText& bare) {
    return in_toml ? with_codex_hooks(bare, hook_groups(HookHost::codex, request.wishes))
                   : without_codex_hooks(bare);
  });
  if (!after) return not_understood(path, after.error());
  add_if_needed(plan, change_at(request.workspace.root, kCodexToml, *text, *after));
  return in_toml;
}

Result<void> plan_groups(const InitRequest& request, HookHost host, bool install, Steps& plan) {
  const std::string path = join(request.workspace.root, hooks_file(host));
  auto text = text_at(plan, path);
  if (!text) return fail(text.error());
  auto after =
      edited(*text, hooks_file(host), request.workspace.root, [&](const FileText& bare) -> Result<FileText> {
        if (!install) return without_groups(bare, host);
        auto with = with_groups(bare, host, hook_groups(host, request.wishes));
        if (!with) return fail(with.error());
        return FileText(std::move(*with));
      });
  if (!after) return not_understood(path, after.error());
  add_if_needed(plan, change_at(request.workspace.root, hooks_file(host), *text, *std::move(after)));
  return {};
}

// Such a file cannot be shared: what somebody else put there stays, and is named.
Result<void> plan_own_files(const InitRequest& request, HookHost host, bool install, Steps& plan) {
  for (const OwnFile& file : own_files(host, request.wishes)) {
    const std::string path = join(request.workspace.root, file.path);
    auto text = read_settings(path);
    if (!text) return fail(text.error());
    const bool is_ours = *text && is_our_file(**text);
    if (*text && !is_ours && !install) continue;
    if (*text && !is_ours) {
      return fail(Code::config_error,
                  fmt::format("{} is not of lease init, and {} runs one program there. "
                              "Move it to the hooks in your home, or let it call: lease hook {}.",
                              in_sentence(path), word(host), word(host)));
    }
    const auto after = edited(
        *text, file.path, request.workspace.root,
        [&](const FileText&) -> Result<FileText> { return install ? FileText(file.text) : FileText(); });
    FileChange change = change_at(request.workspace.root, file.path, *text, *after);
    change.executable = file.executable;
    change.lacks_mode = install && file.executable && is_not_runnable(path);
    add_if_needed(plan, std::move(change));
  }
  return {};
}

Result<void> plan_host(const InitRequest& request, HookHost host, bool install, Steps& plan) {
  if (hooks_file(host).empty()) return plan_own_files(request, host, install, plan);
  if (host == HookHost::codex) {
    const auto in_toml = plan_codex_toml(request, install, plan);
    if (!in_toml) return fail(in_toml.error());
    install = install && !*in_toml;
  }
  return plan_groups(request, host, install, plan);
}

std::string value_of(const Variables& variables, std::string_view name) {
  const char* const value = variables && !name.empty() ? variables(std::string(name).c_str()) : nullptr;
  return value == nullptr ? "" : value;
}

// A host may have its hooks in the same file: ours goes in behind them, and comes out before them.
Result<void> plan_server(const InitRequest& request, HookHost host, bool install, Steps& plan) {
  const ServersFile file = servers_file(host);
  const std::string base = file.in_home ? value_of(request.variables, "HOME") : request.workspace.root;
  const std::string elsewhere = value_of(request.variables, file.variable);
  if (base.empty() && elsewhere.empty()) {
    // Whoever gives no variables asks about the project's files alone.
    if (!install || !request.variables) return {};
    return fail(Code::config_error,
                fmt::format("Its tools stand in {} below the home folder, and HOME is not "
                            "set. Set it, and run this again.",
                            file.path));
  }
  const std::string path = elsewhere.empty() ? join(base, file.path) : elsewhere;
  const auto text = text_at(plan, path);
  if (!text) return fail(text.error());
  const std::string& root = request.workspace.root;
  // One that is named by a variable has no folders of ours.
  auto after =
      edited(*text, elsewhere.empty() ? file.path : std::string_view(), base, [&](const FileText& bare) {
        return install ? with_server(bare, host, root) : without_server(bare, host, root);
      });
  if (!after) return not_understood(path, after.error());
  FileChange change = change_at(base, file.path, *text, *std::move(after));
  change.path = path;
  if (!elsewhere.empty()) change.own_folders = 0;
  add_if_needed(plan, std::move(change));
  return {};
}

template <class Item>
void add_all(Steps& plan, std::vector<Item> items) {
  for (Item& item : items) plan.emplace_back(std::move(item));
}

// Before anything is moved there.
Result<void> check_place(const FileMove& step) {
  // A link is moved itself, so access(2), which follows it, would not do.
  char ignored[1];
  if (::readlink(step.to.c_str(), ignored, sizeof ignored) < 0 && ::access(step.to.c_str(), F_OK) != 0)
    return {};
  return fail(
      Code::config_error,
      fmt::format("{} has to make room, and {} is there already: an earlier hook, maybe of lease init, that "
                  "nobody runs now. Delete it or give it another name, and run this again.",
                  in_sentence(step.from), in_sentence(step.to)));
}

Result<void> move(const FileMove& step) {
  if (auto free = check_place(step); !free) return free;
  if (::rename(step.from.c_str(), step.to.c_str()) == 0) return {};
  return fail(Code::unavailable, fmt::format("Cannot move {}: {}.", in_quotes(step.from),
                                             std::error_code(errno, std::generic_category()).message()));
}

// Adds all steps of a part, or none of them and why. Whether they were added.
bool plan_part(const std::string& part, InitPlan& plan, const std::function<Result<void>(Steps&)>& add) {
  Steps steps = plan.steps;
  Result<void> done = add(steps);
  for (const InitStep& step : steps) {
    const auto* const change = std::get_if<FileChange>(&step);
    if (done && change != nullptr && change->is_needed()) done = check_place(*change);
  }
  if (done) {
    plan.steps = std::move(steps);
  } else {
    plan.refused.push_back({part, done.error()});
  }
  return done.has_value();
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_set(const Workspace& workspace, std::string_view name) {
  const TomlValue* value = workspace.config.find(name);
  const bool* flag = value == nullptr ? nullptr : value->as<bool>();
  return flag != nullptr && *flag;
}

}  // namespace

HookWishes wishes_of(const Workspace& workspace) {
  return {.fail_open = is_set(workspace, "gate_fail_open"), .reads = is_set(workspace, "gate_reads")};
}

Result<InitPlan> plan_install(const InitRequest& request) {
  InitPlan plan;
  if (request.project_settings && !request.workspace.config_file) {
    plan.steps.emplace_back(
        FileChange{join(request.workspace.root, kConfigFileName), {}, std::string(default_settings())});
  }
  for (const HookHost host : request.hosts) {
    const std::string name(word(host));
    const auto hooks = [&](Steps& steps) { return plan_host(request, host, true, steps); };
    const auto tools = [&](Steps& steps) { return plan_server(request, host, true, steps); };
    if (plan_part(name, plan, hooks)) plan_part(name + " tools", plan, tools);
  }
  if (request.git) {
    plan_part("git", plan, [&](Steps& steps) -> Result<void> {
      auto hooks = plan_git_hooks(*request.git);
      if (!hooks) return fail(hooks.error());
      for (const FileMove& one : hooks->moves) {
        if (auto free = check_place(one); !free) return free;
      }
      add_all(steps, std::move(hooks->moves));
      add_all(steps, std::move(hooks->files));
      add_all(steps, std::move(hooks->sections));
      return {};
    });
  }
  if (request.no_git) plan.refused.push_back({"git", *request.no_git});
  return plan;
}

Result<InitPlan> plan_uninstall(const InitRequest& request) {
  InitPlan plan;
  for (const HookHost host : request.hosts) {
    const std::string name(word(host));
    plan_part(name + " tools", plan, [&](Steps& steps) { return plan_server(request, host, false, steps); });
    plan_part(name, plan, [&](Steps& steps) { return plan_host(request, host, false, steps); });
  }
  if (request.git) {
    plan_part("git", plan, [&](Steps& steps) -> Result<void> {
      auto hooks = plan_without_git_hooks(*request.git);
      if (!hooks) return fail(hooks.error());
      add_all(steps, std::move(hooks->files));
      add_all(steps, std::move(hooks->moves));
      add_all(steps, std::move(hooks->sections));
      return {};
    });
  }
  if (request.no_git) plan.refused.push_back({"git", *request.no_git});
  if (request.project_settings) {
    const std::string path = join(request.workspace.root, kConfigFileName);
    auto text = read_settings(path);
    if (!text) return fail(text.error());
    if (*text == default_settings()) plan.steps.emplace_back(FileChange{path, *text, {}});
  }
  return plan;
}

Result<void> carry_out(const InitPlan& plan, const std::string& root) {
  for (const InitStep& step : plan.steps) {
    Result<void> done;
    if (const auto* change = std::get_if<FileChange>(&step)) done = apply(*change);
    if (const auto* moved = std::get_if<FileMove>(&step)) done = move(*moved);
    if (const auto* section = std::get_if<GitSection>(&step)) done = set_git_section(root, *section);
    if (!done) return done;
  }
  return {};
}

std::optional<std::string> on_path(std::string_view program, const Variables& variables) {
  const std::string path = value_of(variables, "PATH");
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    std::string file = join(path.substr(begin, end - begin), program);
    if (file.starts_with('/') && ::access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return std::nullopt;
}

std::vector<HookHost> installed_hosts(const std::string& root, const Variables& variables) {
  std::vector<HookHost> hosts;
  for (const HookHost host : all_hosts()) {
    const HostSigns& signs = signs_of(host);
    std::string home = value_of(variables, signs.home_variable);
    if (home.empty()) home = join(value_of(variables, "HOME"), signs.home_folder);
    if (on_path(signs.program, variables) || is_there(home) || is_there(join(root, signs.project_folder)))
      hosts.push_back(host);
  }
  return hosts;
}

bool calls_us(const std::string& root, HookHost host) {
  if (hooks_file(host).empty()) {
    const auto files = own_files(host, {});
    return std::ranges::any_of(files, [&](const OwnFile& file) {
      const auto text = read_settings(join(root, file.path));
      return text && *text && is_our_file(**text);
    });
  }
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
