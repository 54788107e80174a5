#include "workspace/project_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

#include "util/read_file.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

constexpr std::size_t kFileBytesMax = 1024 * 1024;
constexpr std::size_t kWorkspaceNameBytesMax = 128;

// No "@": it separates the name from the work tree. No blanks or braces: the name becomes a part of keys in
// stores.
bool is_workspace_name(std::string_view name) {
  const auto is_alphanumeric = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto is_allowed = [&](char c) {
    return is_alphanumeric(c) || c == '.' || c == '_' || c == '-' || c == '/';
  };
  return !name.empty() && name.size() <= kWorkspaceNameBytesMax && is_alphanumeric(name.front()) &&
         std::ranges::all_of(name, is_allowed);
}

}  // namespace

std::unexpected<Error> config_error(std::string_view file, unsigned line, std::string_view what) {
  return fail(Code::config_error, fmt::format("{}:{}: {}", file, line, what));
}

Result<ProjectFile> parse_project_file(std::string_view text, std::string_view file) {
  auto table = parse_toml(text);
  if (!table)
    return config_error(file, table.error().line, fmt::format("not valid TOML: {}", table.error().what));

  ProjectFile project;
  if (const TomlValue* value = table->find("workspace")) {
    const auto* name = value->as<std::string>();
    if (name == nullptr || !is_workspace_name(*name)) {
      return config_error(
          file, value->line,
          "workspace has to be a name of at most 128 letters, digits, \".\", \"_\", \"-\" and \"/\", "
          "starting with a letter or digit");
    }
    project.workspace = *name;
  }
  if (const TomlValue* value = table->find("scope")) {
    const auto* word = value->as<std::string>();
    if (word != nullptr && *word == "worktree") {
      project.scope = WorkspaceScope::worktree;
    } else if (word != nullptr && *word == "repo") {
      project.scope = WorkspaceScope::repo;
    } else {
      return config_error(
          file, value->line,
          "scope has to be \"worktree\" (each work tree apart) or \"repo\" (all of them together)");
    }
  }
  project.table = std::move(*table);
  return project;
}

Result<ProjectFile> read_project_file(const std::string& file) {
  const auto text = read_file(file, kFileBytesMax);
  if (!text) {
    return fail(Code::config_error,
                fmt::format("The settings file {} cannot be read: {}. Check its permissions.", file,
                            std::make_error_code(text.error()).message()));
  }
  return parse_project_file(*text, file);
}

}  // namespace leasehold
