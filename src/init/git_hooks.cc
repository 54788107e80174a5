#include "init/git_hooks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "init/folder_mark.h"
#include "init/git_place.h"
#include "init/marked_block.h"
#include "util/path_text.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

// Before the commit of a merge without conflicts git asks pre-merge-commit instead of pre-commit.
constexpr std::array<std::string_view, 3> kEvents = {"pre-commit", "pre-merge-commit", "post-commit"};

// Behind the name of a hook that we run after ours.
constexpr std::string_view kAside = ".before-leasehold";

constexpr std::string_view kOwnStart = "#!/bin/sh\n# Made by lease init.\n";
constexpr std::string_view kRunAside =
    "[ ! -x \"$0.before-leasehold\" ] || exec \"$0.before-leasehold\" \"$@\"\n";

// Without lease, commits go on unless the project says otherwise. Git runs this at the top of the work tree.
constexpr std::string_view kBefore = R"(case "${{LEASE_GIT_HOOKS:-1}}" in 0 | off) ;; *)
  if command -v lease >/dev/null 2>&1; then
    lease git-hook {} || exit $?
  elif grep -qs '^[[:space:]]*git_hook_required[[:space:]]*=[[:space:]]*true' .leasehold.toml; then
    echo 'lease is not installed, and .leasehold.toml wants it (git_hook_required).' >&2
    exit 1
  else
    echo 'lease is not installed: nobody checked whether others hold these files.' >&2
  fi ;;
esac
)";
constexpr std::string_view kPostCommit = R"(case "${LEASE_GIT_HOOKS:-1}" in 0 | off) ;; *)
  if command -v lease >/dev/null 2>&1; then lease git-hook post-commit || true; fi ;;
esac
)";

std::string lines_of(std::string_view event) {
  return event == kEvents.back() ? std::string(kPostCommit) : fmt::format(kBefore, event);
}

std::string section_of(std::string_view event) { return fmt::format("hook.lease-{}", event); }

GitSection wanted_section(std::string_view event) {
  return {section_of(event), {{"command", lines_of(event)}, {"event", std::string(event)}}};
}

bool has_section(const GitPlace& place, const GitSection& section) {
  for (const auto& [name, value] : section.values) {
    if (git_value(place.root, section.name + '.' + name) != value) return false;
  }
  return true;
}

// Whether the first line says that a shell reads the rest; also where there is none, as git then asks sh.
bool is_shell_script(std::string_view text) {
  if (text.contains('\0') || text.starts_with("\x7f")) return false;
  if (!text.starts_with("#!")) return true;
  std::string_view line = text.substr(2, text.find('\n') - 2);
  while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
  for (const std::string_view option : {" -e", " -eu", " -u", " -l", " -x", " -ex"}) {
    if (line.ends_with(option)) line.remove_suffix(option.size());
  }
  const std::string_view program = line.substr(line.find_last_of("/ ") + 1);
  for (const std::string_view shell : {"sh", "bash", "dash", "zsh", "ksh"}) {
    if (program == shell) return true;
  }
  return false;
}

// A script without a first line of this kind gets ours on top.
std::string with_own_lines(std::string_view text, std::string_view lines) {
  if (text.starts_with("#!")) return with_block_behind_first_line(text, lines);
  return block(lines) + std::string(text);
}

// What it leads to may be others' as well.
bool is_link(const std::string& path) {
  std::error_code unseen;
  return std::filesystem::is_symlink(path, unseen);
}

// How many of the folders around a hook may be ours: those in the repository, which git makes only the first
// time.
int own_folders(const GitPlace& place) {
  const std::string inside = place.root + '/';
  if (!place.hooks_folder.starts_with(inside)) return 1;
  return 1 + static_cast<int>(std::ranges::count(place.hooks_folder.substr(inside.size()), '/'));
}

Result<void> plan_file(const GitPlace& place, std::string_view event, GitHookPlan& plan) {
  const std::string path = join(place.hooks_folder, event);
  auto text = read_settings(path);
  if (!text) return fail(text.error());
  if (*text && has_block_of(**text, lines_of(event))) return {};
  const bool is_off = place.needs_mode && ::access(path.c_str(), X_OK) != 0;
  if (!*text) {
    const std::string mark = mark_for(path, own_folders(place));
    plan.files.push_back({path, {}, std::string(kOwnStart) + block(lines_of(event)) + mark, 0, true});
  } else if (!is_link(path) && (has_block(**text) || (is_shell_script(**text) && !is_off))) {
    plan.files.push_back({path, *text, with_own_lines(without_block(**text), lines_of(event))});
  } else {
    plan.moves.push_back({path, path + std::string(kAside)});
    plan.files.push_back(
        {path, {}, std::string(kOwnStart) + block(lines_of(event)) + std::string(kRunAside), 0, true});
  }
  return {};
}

Result<void> plan_removal(const GitPlace& place, std::string_view event, GitHookPlan& plan) {
  // The framework pre-commit moves what it finds to .legacy, lefthook to .old.
  for (const std::string_view ending : {"", ".legacy", ".old"}) {
    const std::string path = join(place.hooks_folder, event) + std::string(ending);
    auto text = read_settings(path);
    if (!text) return fail(text.error());
    if (!*text || !has_block(**text)) continue;
    const MarkedText present = without_mark(**text);
    const std::string bare = without_block(present.text);
    const bool has_aside = bare == std::string(kOwnStart) + std::string(kRunAside);
    const bool is_own = has_aside || bare == kOwnStart;
    const int kept = static_cast<int>(present.mark.size());
    plan.files.push_back({path, *text, is_own ? FileText() : FileText(bare + present.mark),
                          is_own ? std::max(own_folders(place) - kept, 0) : 0});
    const std::string aside = path + std::string(kAside);
    if (has_aside && ::access(aside.c_str(), F_OK) == 0) plan.moves.push_back({aside, path});
  }
  return {};
}

bool has_hook(const GitPlace& place, std::string_view event) {
  if (place.version >= kConfiguredHooks && has_section(place, wanted_section(event))) return true;
  const auto text = read_settings(join(place.hooks_folder, event));
  return text && *text && has_block_of(**text, lines_of(event));
}

GitPlace usual(GitPlace place) {
  place.hooks_folder = place.usual_folder;
  return place;
}

std::unexpected<Error> shared_hooks(const GitPlace& place) {
  return fail(
      Code::config_error,
      fmt::format(
          "core.hooksPath leads out of this repository, to {}, which others may use as well; so nothing "
          "was changed there. {}",
          in_quotes(place.hooks_folder), kSharedHooksAdvice));
}

}  // namespace

std::optional<GitVersion> parse_git_version(std::string_view text) {
  constexpr std::string_view kStart = "git version ";
  if (!text.starts_with(kStart)) return std::nullopt;
  text.remove_prefix(kStart.size());
  GitVersion version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), text.data() + text.size(), version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc()) return std::nullopt;
  return version;
}

Result<GitHookPlan> plan_git_hooks(const GitPlace& place) {
  GitHookPlan plan;
  for (const std::string_view event : kEvents) {
    if (has_hook(place, event)) continue;
    if (place.version >= kConfiguredHooks) {
      plan.sections.push_back(wanted_section(event));
    } else if (place.is_shared) {
      return shared_hooks(place);
    } else if (auto done = plan_file(place, event, plan); !done) {
      return fail(done.error());
    }
  }
  return plan;
}

Result<GitHookPlan> plan_without_git_hooks(const GitPlace& place) {
  GitHookPlan plan;
  for (const std::string_view event : kEvents) {
    if (git_value(place.root, section_of(event) + ".event")) plan.sections.push_back({section_of(event), {}});
    if (!place.usual_folder.empty()) {
      if (auto done = plan_removal(usual(place), event, plan); !done) return fail(done.error());
    }
    if (place.is_shared) continue;
    if (auto done = plan_removal(place, event, plan); !done) return fail(done.error());
  }
  return plan;
}

bool has_unused_git_hooks(const GitPlace& place) {
  return !place.usual_folder.empty() && std::ranges::any_of(kEvents, [&](std::string_view event) {
    const auto text = read_settings(join(place.usual_folder, event));
    return text && *text && has_block(**text);
  });
}

bool has_git_hooks(const GitPlace& place) {
  for (const std::string_view event : kEvents) {
    if (!has_hook(place, event)) return false;
  }
  return true;
}

}  // namespace leasehold
