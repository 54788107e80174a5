#include "hook/tool_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>
#include <span>

#include "shell/patch_paths.h"
#include "util/unique.h"

namespace leasehold {
namespace {

namespace json = boost::json;

struct KnownTool {
  std::string_view name;
  ToolKind kind;
};
constexpr KnownTool kTools[] = {
    // Claude Code, Copilot, Cursor
    {"Write", ToolKind::write},
    {"Edit", ToolKind::write},
    {"MultiEdit", ToolKind::write},
    {"NotebookEdit", ToolKind::write},
    {"Delete", ToolKind::write},
    {"StrReplace", ToolKind::write},
    {"ApplyPatch", ToolKind::write},
    {"EditNotebook", ToolKind::write},
    {"Read", ToolKind::read},
    {"Grep", ToolKind::other},
    {"Glob", ToolKind::other},
    {"Bash", ToolKind::shell},
    {"Shell", ToolKind::shell},
    // Codex, OpenCode, Copilot
    {"apply_patch", ToolKind::write},
    {"write", ToolKind::write},
    {"edit", ToolKind::write},
    {"multiedit", ToolKind::write},
    {"create", ToolKind::write},
    {"str_replace_editor", ToolKind::write},
    {"view", ToolKind::read},
    {"patch", ToolKind::write},
    {"read", ToolKind::read},
    {"bash", ToolKind::shell},
    // Gemini, Cline
    {"write_file", ToolKind::write},
    {"replace", ToolKind::write},
    {"write_to_file", ToolKind::write},
    {"replace_in_file", ToolKind::write},
    {"new_rule", ToolKind::write},
    {"read_file", ToolKind::read},
    {"run_shell_command", ToolKind::shell},
    {"execute_command", ToolKind::shell},
    // VS Code
    {"editFiles", ToolKind::write},
    {"createFile", ToolKind::write},
    {"create_file", ToolKind::write},
    {"insert_edit_into_file", ToolKind::write},
    {"replace_string_in_file", ToolKind::write},
    {"multi_replace_string_in_file", ToolKind::write},
    {"edit_notebook_file", ToolKind::write},
    {"run_in_terminal", ToolKind::shell},
    {"runTerminalCommand", ToolKind::shell},
    // Windsurf has events instead, named after them.
    {"write_code", ToolKind::write},
    {"read_code", ToolKind::read},
    {"run_command", ToolKind::shell},
};

constexpr std::string_view kPathFields[] = {"file_path", "path",        "filePath",     "notebook_path",
                                            "filepath",  "target_file", "absolutePath", "absolute_path"};
// Lists of files, or of what is done to each.
constexpr std::string_view kListFields[] = {"files", "replacements"};
constexpr std::string_view kContentFields[] = {"content", "contents", "file_text", "new_string", "newString",
                                               "new_str", "edits",    "code_edit", "diff"};
constexpr std::string_view kFolderFields[] = {"cwd", "workdir", "working_directory", "dir_path", "directory"};

std::string text(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string first_text(const json::object& object, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (std::string found = text(object, name); !found.empty()) return found;
  }
  return {};
}

std::vector<std::string> paths_of(const json::object& arguments) {
  std::vector<std::string> paths;
  const auto add = [&](std::string path) {
    if (!path.empty()) add_unique(paths, std::move(path));
  };
  add(first_text(arguments, kPathFields));
  for (const std::string_view name : kListFields) {
    const json::value* const list = arguments.if_contains(name);
    if (list == nullptr || !list->is_array()) continue;
    for (const json::value& one : list->get_array()) {
      if (one.is_string()) add(std::string(one.get_string()));
      if (one.is_object()) add(first_text(one.get_object(), kPathFields));
    }
  }
  return paths;
}

// Patches come under several names, and as the whole of the arguments.
std::vector<std::string> paths_of_patch(const json::value& arguments) {
  if (arguments.is_string()) return patch_paths(arguments.get_string()).value_or(std::vector<std::string>());
  if (!arguments.is_object()) return {};
  for (const auto& [name, value] : arguments.get_object()) {
    if (!value.is_string()) continue;
    if (auto paths = patch_paths(value.get_string()); paths && !paths->empty()) return std::move(*paths);
  }
  return {};
}

bool looks_like_a_write(const json::object& arguments) {
  return !first_text(arguments, kPathFields).empty() &&
         std::ranges::any_of(kContentFields, [&](std::string_view name) { return arguments.contains(name); });
}

void look_at_command(ToolCall& call, const json::object& arguments) {
  call.command = text(arguments, "command");
  if (call.command.empty()) call.command = text(arguments, "command_line");
  call.folder = first_text(arguments, kFolderFields);
}

}  // namespace

Result<ToolCall> tool_call(std::string_view tool, const json::value& arguments, bool may_be_unnamed) {
  const json::object empty;
  const json::object& named = arguments.is_object() ? arguments.get_object() : empty;
  ToolCall call;
  if (const auto* known = std::ranges::find(kTools, tool, &KnownTool::name); known != std::end(kTools)) {
    call.kind = known->kind;
  } else if (may_be_unnamed && looks_like_a_write(named)) {
    call.kind = ToolKind::write;
  }
  if (tool == "str_replace_editor" && text(named, "command") == "view") call.kind = ToolKind::read;
  if (call.kind == ToolKind::shell) look_at_command(call, named);
  if (call.kind != ToolKind::write && call.kind != ToolKind::read) return call;
  call.paths = paths_of(named);
  // A file that is written may have a patch in it; a tool for patches says in them what it writes.
  const bool takes_patches = tool.ends_with("patch") || tool.ends_with("Patch");
  if (call.kind == ToolKind::write && (call.paths.empty() || takes_patches))
    std::ranges::move(paths_of_patch(arguments), std::back_inserter(call.paths));
  if (call.kind == ToolKind::write && call.paths.empty())
    return fail(Code::invalid_argument, fmt::format("The hook's input names no file for {}.", tool));
  return call;
}

}  // namespace leasehold
