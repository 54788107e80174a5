#include "workspace/git_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "util/path_text.h"
#include "util/read_file.h"
#include "util/resolve_path.h"
#include "util/utf8.h"
#include "workspace/git_config.h"
#include "workspace/origin_url.h"

namespace leasehold {
namespace {

// Two of the files hold one path; the configuration is written by people. What is larger is something else.
constexpr std::size_t kPathFileBytesMax = 16 * 1024;
constexpr std::size_t kConfigBytesMax = 1024 * 1024;

bool exists(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0;
}

bool is_repository(const std::string& git_dir) { return exists(join(git_dir, "HEAD")); }

std::string_view without_newlines(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// `path` as seen from `folder`, links resolved.
std::optional<std::string> resolved_from(const std::string& folder, std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return std::nullopt;
  auto resolved = resolve_path(path.starts_with('/') ? "/" : folder, path);
  if (!resolved) return std::nullopt;
  return std::move(resolved->path);
}

std::string common_dir_of(const std::string& git_dir) {
  const auto text = read_file(join(git_dir, "commondir"), kPathFileBytesMax);
  if (!text) return git_dir;
  return resolved_from(git_dir, without_newlines(*text)).value_or(git_dir);
}

// A linked work tree or a submodule has a .git file with one line: "gitdir: <path>".
std::expected<std::string, std::string> git_dir_from_file(const std::string& folder,
                                                          const std::string& dot_git) {
  constexpr std::string_view kPrefix = "gitdir: ";
  const auto text = read_file(dot_git, kPathFileBytesMax);
  if (!text) {
    return std::unexpected(fmt::format("{} cannot be read: {}", in_quotes(dot_git),
                                       std::make_error_code(text.error()).message()));
  }
  if (!text->starts_with(kPrefix)) {
    return std::unexpected(fmt::format("{} does not say \"gitdir: <path>\"", in_quotes(dot_git)));
  }
  const std::string_view path = without_newlines(std::string_view(*text).substr(kPrefix.size()));
  auto git_dir = resolved_from(folder, path);
  if (!git_dir || !is_repository(*git_dir)) {
    return std::unexpected(
        fmt::format("{} points to {}, where no repository can be read", in_quotes(dot_git), in_quotes(path)));
  }
  return std::move(*git_dir);
}

}  // namespace

std::expected<std::optional<GitDirs>, std::string> git_dirs_at(const std::string& folder) {
  const std::string dot_git = join(folder, ".git");
  struct stat status{};
  if (::stat(dot_git.c_str(), &status) != 0) return std::nullopt;

  std::string git_dir;
  if (S_ISDIR(status.st_mode)) {
    if (!is_repository(dot_git)) return std::nullopt;
    git_dir = resolved_from(folder, ".git").value_or(dot_git);
  } else {
    auto named = git_dir_from_file(folder, dot_git);
    if (!named) return std::unexpected(std::move(named).error());
    git_dir = std::move(*named);
  }
  std::string common_dir = common_dir_of(git_dir);
  return GitDirs{std::move(git_dir), std::move(common_dir)};
}

std::vector<std::string> work_trees_of(const std::string& common_dir) {
  std::vector<std::string> tops;
  if (common_dir.ends_with("/.git")) tops.emplace_back(parent_of(common_dir));
  std::error_code error;
  for (std::filesystem::directory_iterator entry(join(common_dir, "worktrees"), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string own = entry->path().string();
    const auto text = read_file(join(own, "gitdir"), kPathFileBytesMax);
    const auto dot_git = text ? resolved_from(own, without_newlines(*text)) : std::nullopt;
    if (dot_git && exists(*dot_git)) tops.emplace_back(parent_of(*dot_git));
  }
  return tops;
}

std::string origin_of(const GitDirs& dirs, const std::string& root) {
  const auto config = read_file(join(dirs.common_dir, "config"), kConfigBytesMax);
  if (!config) return "";
  const auto url = git_config_value(*config, {.section = "remote", .subsection = "origin", .key = "url"});
  if (!url) return "";

  std::string origin = normalised_origin(*url);
  const bool is_relative_path = origin.starts_with("./") || origin.starts_with("../");
  return is_relative_path ? resolved_from(root, origin).value_or(origin) : origin;
}

}  // namespace leasehold
