#include "init/configured_command.h"

#include <algorithm>
#include <boost/json.hpp>

#include "hook/staged_report.h"
#include "init/agent_hooks.h"
#include "init/codex_toml.h"
#include "init/file_change.h"
#include "util/path_text.h"

namespace leasehold {
namespace {

namespace json = boost::json;

// As hosts run one.
std::vector<std::string> by_shell(const std::string& line) { return {"/bin/sh", "-c", line}; }

std::string text_at(const json::value& value, std::string_view name) {
  const json::value* const found = value.is_object() ? value.get_object().if_contains(name) : nullptr;
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

const json::array* list_at(const json::value& value, std::string_view name) {
  const json::value* const found = value.is_object() ? value.get_object().if_contains(name) : nullptr;
  return found == nullptr ? nullptr : found->if_array();
}

// Matchers are patterns; ours name the tools.
bool names(const std::string& matcher, std::string_view tool) {
  return matcher.empty() || matcher.contains(tool);
}

std::vector<std::vector<std::string>> in_json(const std::string& text, HookHost host) {
  std::vector<std::vector<std::string>> commands;
  boost::system::error_code error;
  json::parse_options options;
  options.allow_comments = true;
  const json::value settings = json::parse(text, error, {}, options);
  const json::value* const hooks =
      settings.is_object() ? settings.get_object().if_contains("hooks") : nullptr;
  const StagedTool tool = tool_that_writes(host);
  const json::array* const groups = hooks == nullptr ? nullptr : list_at(*hooks, tool.event);
  if (groups == nullptr) return commands;
  const auto add = [&](const json::value& handler) {
    if (is_our_handler(host, json::serialize(handler)))
      commands.push_back(by_shell(text_at(handler, "command")));
  };
  for (const json::value& group : *groups) {
    if (!names(text_at(group, "matcher"), tool.name)) continue;
    const json::array* const handlers = list_at(group, "hooks");
    if (handlers == nullptr) {
      add(group);
    } else {
      std::ranges::for_each(*handlers, add);
    }
  }
  return commands;
}

// Codex's, in TOML.
std::vector<std::vector<std::string>> in_toml(const std::string& text) {
  std::vector<std::vector<std::string>> commands;
  const auto settings = parse_toml(text);
  const TomlValue* const hooks = settings ? settings->find("hooks") : nullptr;
  const auto* const events = hooks == nullptr ? nullptr : hooks->as<TomlTable>();
  const StagedTool tool = tool_that_writes(HookHost::codex);
  const TomlValue* const event = events == nullptr ? nullptr : events->find(tool.event);
  const auto* const groups = event == nullptr ? nullptr : event->as<TomlArray>();
  if (groups == nullptr) return commands;
  const auto text_in = [](const TomlTable& table, std::string_view name) -> std::string {
    const TomlValue* const value = table.find(name);
    const auto* const found = value == nullptr ? nullptr : value->as<std::string>();
    return found == nullptr ? "" : *found;
  };
  for (const TomlValue& group : *groups) {
    const auto* const table = group.as<TomlTable>();
    if (table == nullptr || !names(text_in(*table, "matcher"), tool.name)) continue;
    const TomlValue* const list = table->find("hooks");
    const auto* const handlers = list == nullptr ? nullptr : list->as<TomlArray>();
    if (handlers == nullptr) continue;
    for (const TomlValue& one : *handlers) {
      const auto* const handler = one.as<TomlTable>();
      const std::string line = handler == nullptr ? "" : text_in(*handler, "command");
      if (is_our_handler(HookHost::codex, json::serialize(json::object{{"command", line}})))
        commands.push_back(by_shell(line));
    }
  }
  return commands;
}

std::string text_of(const std::string& path) {
  auto text = read_settings(path);
  return text && *text ? std::move(**text) : std::string();
}

}  // namespace

std::vector<std::vector<std::string>> commands_before_write(const std::string& root, HookHost host) {
  // OpenCode's module starts it by its name; Cline starts the file that is named after the event.
  if (hooks_file(host).empty()) {
    const std::string event(tool_that_writes(host).event);
    for (const OwnFile& file : own_files(host, {})) {
      const std::string path = join(root, file.path);
      if (!is_our_file(text_of(path))) continue;
      if (host == HookHost::opencode) return {{"lease", "hook", "opencode"}};
      if (path.ends_with('/' + event)) return {{path}};
    }
    return {};
  }
  auto commands = in_json(text_of(join(root, hooks_file(host))), host);
  if (commands.empty() && host == HookHost::codex) return in_toml(text_of(join(root, kCodexToml)));
  return commands;
}

bool passes_when_late(HookHost host) {
  return host == HookHost::codex || host == HookHost::gemini || host == HookHost::copilot;
}

}  // namespace leasehold
