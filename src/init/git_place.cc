#include "init/git_place.h"

#include "run/capture.h"
#include "util/path_text.h"
#include "util/resolve_path.h"

namespace leasehold {
namespace {

std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool is_in(const std::string& path, const std::string& folder) { return below(path, folder).has_value(); }

}  // namespace

std::optional<std::string> git_value(const std::string& root, const std::string& name) {
  // With a default, a value that is not set is no failure that git would talk about.
  auto text = capture({"git", "config", "--local", "--null", "--default", "", "--get", name}, root);
  if (!text || text->size() <= 1) return std::nullopt;
  text->pop_back();
  return std::move(*text);
}

Result<void> set_git_section(const std::string& root, const GitSection& section) {
  if (section.values.empty()) {
    const auto done = capture({"git", "config", "--local", "--remove-section", section.name}, root);
    if (!done) return fail(done.error());
  }
  for (const auto& [name, value] : section.values) {
    const auto done = capture({"git", "config", "--local", section.name + '.' + name, value}, root);
    if (!done) return fail(done.error());
  }
  return {};
}

Result<GitPlace> find_git_place(const std::string& root, const std::optional<std::string>& common_dir) {
  if (!common_dir)
    return fail(Code::not_found, "There is no git repository here, so there are no git hooks.");
  GitPlace place = {.root = root};
  const auto version = capture({"git", "version"}, root);
  if (!version) return fail(version.error());
  place.version = parse_git_version(*version).value_or(GitVersion());
  auto folder = capture({"git", "rev-parse", "--git-path", "hooks"}, root);
  if (!folder) return fail(folder.error());
  *folder = without_line_end(std::move(*folder));
  const auto resolved = resolve_path(folder->starts_with('/') ? "/" : root, *folder);
  if (!resolved)
    return fail(Code::unavailable, "The folder of git's hooks (core.hooksPath) cannot be followed.");
  place.hooks_folder = resolved->path;
  place.is_shared = !is_in(place.hooks_folder, root) && !is_in(place.hooks_folder, *common_dir);
  const auto usual = resolve_path(*common_dir, "hooks");
  if (usual && usual->path != place.hooks_folder) place.usual_folder = usual->path;
  // husky makes what is in _ anew; what it runs stands beside that.
  if (place.hooks_folder.ends_with("/.husky/_")) {
    place.hooks_folder = parent_of(place.hooks_folder);
    place.needs_mode = false;
  }
  return place;
}

}  // namespace leasehold
