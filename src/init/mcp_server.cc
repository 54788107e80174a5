#include "init/mcp_server.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <initializer_list>

#include "init/codex_toml.h"
#include "init/json_spans.h"

namespace leasehold {
namespace {

// What a JSON file of servers has. Each spelling is one that only we write, so that the text tells what it
// was before.
struct Spelling {
  std::string_view member;  // Under which the servers are.
  std::string value;
  std::string folder = {};  // Of the project, where one file serves all; else empty.
  std::string name = "lease";

  std::string entry() const { return "\n    \"" + name + "\": " + value; }
  std::string servers() const { return "\n  \"" + std::string(member) + "\": {" + entry() + "\n  }"; }
  std::string whole_file() const { return "{" + servers() + "\n}\n"; }
  std::string in_empty_file() const { return "{ " + servers() + "\n}\n"; }
};

// Stands before ours where nothing else is.
constexpr const char* kInEmptyObject = "  ";

// As part of a server's name: hosts make the names of tools of it.
std::string folder_of(const std::string& root) {
  std::string folder = root.substr(root.find_last_of('/') + 1);
  const auto is_plain = [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_'); };
  std::ranges::replace_if(folder, [&](char c) { return !is_plain(static_cast<unsigned char>(c)); }, '-');
  return folder.empty() ? "project" : folder;
}

Spelling spelling_of(HookHost host, const std::string& root) {
  switch (host) {
    case HookHost::opencode:
      return {"mcp", R"({"type": "local", "command": ["lease", "mcp"]})"};
    case HookHost::copilot:
      return {"mcpServers", R"({"type": "local", "command": "lease", "args": ["mcp"], "tools": ["*"]})"};
    case HookHost::windsurf:
    case HookHost::cline:
      return {"mcpServers",
              R"({"command": "lease", "args": ["mcp", "-C", )" +
                  boost::json::serialize(boost::json::string(root)) + "]}",
              folder_of(root)};
    default:
      return {"mcpServers", R"({"command": "lease", "args": ["mcp"]})"};
  }
}

constexpr std::string_view kTomlText = "[mcp_servers.lease]\ncommand = \"lease\"\nargs = [\"mcp\"]";

std::unexpected<Error> not_an_object(std::string_view text, std::size_t at, std::string_view what) {
  const auto line = 1 + std::ranges::count(text.substr(0, at), '\n');
  return fail(Code::invalid_argument,
              std::to_string(line) + ": " + std::string(what) + " has to be an object, {...}");
}

// Without the first of these pieces that is in it.
std::string without_first(std::string text, std::initializer_list<std::string> pieces) {
  for (const std::string& piece : pieces) {
    if (const std::size_t at = text.find(piece); at != std::string::npos) return text.erase(at, piece.size());
  }
  return text;
}

// Whether it starts what ours starts; hosts that write their file anew add settings of their own.
bool runs_the_same(std::string_view entry, std::string_view ours) {
  boost::system::error_code error;
  boost::json::parse_options options;
  options.allow_comments = true;
  const boost::json::value theirs = boost::json::parse(entry, error, {}, options);
  const boost::json::object wanted = boost::json::parse(ours).as_object();
  if (error || !theirs.is_object()) return false;
  return std::ranges::all_of(std::initializer_list<std::string_view>{"command", "args"}, [&](auto name) {
    const auto* const value = wanted.if_contains(name);
    const auto* const found = theirs.get_object().if_contains(name);
    return value == nullptr || (found != nullptr && *found == *value);
  });
}

bool runs_the_same(const std::string& text, const JsonMember& entry, const Spelling& ours) {
  const JsonSpan& value = entry.value;
  return runs_the_same(std::string_view(text).substr(value.begin, value.end - value.begin), ours.value);
}

// Whether an entry is ours for some project.
bool names_a_project(const std::string& text, const JsonMember& entry) {
  const JsonSpan& value = entry.value;
  boost::system::error_code error;
  const boost::json::value parsed =
      boost::json::parse(text.substr(value.begin, value.end - value.begin), error);
  const auto* const found = !error && parsed.is_object() ? parsed.get_object().if_contains("args") : nullptr;
  const auto* const args = found == nullptr ? nullptr : found->if_array();
  if (args == nullptr || args->size() != 3) return false;
  Spelling theirs;
  theirs.value =
      R"({"command": "lease", "args": ["mcp", "-C", )" + boost::json::serialize(args->at(2)) + "]}";
  return runs_the_same(text, entry, theirs);
}

// Which name our entry has among the servers of a file for all projects, or gets: its own if it is there;
// "lease" unless that is another project's. One that its user wrote is as good as ours.
std::string name_among(const std::string& text, const JsonSpan& servers, const Spelling& ours) {
  for (const JsonMember& entry : servers.members) {
    if (entry.name.starts_with("lease") && runs_the_same(text, entry, ours)) return entry.name;
  }
  std::string name = "lease";
  for (int i = 1; const JsonMember* taken = servers.find(name); ++i) {
    if (!names_a_project(text, *taken)) return name;
    name = "lease-" + ours.folder + (i == 1 ? "" : "-" + std::to_string(i));
  }
  return name;
}

Result<FileText> with_json_entry(const FileText& text, Spelling ours) {
  if (!text) return ours.whole_file();
  const auto spans = json_spans(*text);
  if (!spans) return fail(spans.error());
  if (!*spans) return *text + ours.in_empty_file();
  const JsonSpan& root = **spans;
  if (root.kind != '{') return not_an_object(*text, root.begin, "the file");
  const JsonMember* const servers = root.find(ours.member);
  const JsonSpan& around = servers == nullptr ? root : servers->value;
  if (around.kind != '{') return not_an_object(*text, around.begin, ours.member);
  if (servers != nullptr && !ours.folder.empty()) ours.name = name_among(*text, around, ours);
  if (servers != nullptr && around.find(ours.name) != nullptr) return text;
  std::string with = *text;
  const std::string piece = servers == nullptr ? ours.servers() : ours.entry();
  // Else an empty object that ends in a line of its own would look like a file of ours.
  with.insert(around.begin + 1, around.members.empty() ? kInEmptyObject + piece : piece + ",");
  return with;
}

// For a text that is not ours any more: its host wrote it anew, in its own way. What was there before cannot
// be told then, so what is around the entry stays.
Result<FileText> without_reformatted(std::string text, const Spelling& ours) {
  if (!text.contains("\"" + ours.name + "\"")) return text;
  const auto spans = json_spans(text);
  if (!spans) return fail(spans.error());
  const JsonMember* const servers = *spans ? (*spans)->find(ours.member) : nullptr;
  const JsonMember* const entry = servers == nullptr ? nullptr : servers->value.find(ours.name);
  if (entry == nullptr) return text;
  if (!runs_the_same(text, *entry, ours)) return text;
  erase_member(text, servers->value, static_cast<std::size_t>(entry - servers->value.members.data()));
  return text;
}

// The name that our entry has in the text.
std::string name_in(const std::string& text, const Spelling& ours) {
  const auto spans = json_spans(text);
  const JsonMember* const servers = spans && *spans ? (*spans)->find(ours.member) : nullptr;
  return servers == nullptr ? ours.name : name_among(text, servers->value, ours);
}

Result<FileText> without_json_entry(const FileText& text, Spelling ours) {
  if (text && !ours.folder.empty()) ours.name = name_in(*text, ours);
  if (!text || *text == ours.whole_file()) return FileText();
  // One that somebody put another behind or in front of, too.
  std::string left = without_first(
      *text, {ours.in_empty_file(), kInEmptyObject + ours.servers(), ours.servers() + ",", ours.servers(),
              kInEmptyObject + ours.entry(), ours.entry() + ",", "," + ours.entry(), ours.entry()});
  return left == *text ? without_reformatted(std::move(left), ours) : std::move(left);
}

bool names_lease(const TomlTable& settings) {
  const TomlValue* const servers = settings.find("mcp_servers");
  const auto* const table = servers == nullptr ? nullptr : servers->as<TomlTable>();
  return table != nullptr && table->find("lease") != nullptr;
}

Result<FileText> with_toml_entry(const FileText& text) {
  const std::string entry(kTomlText);
  if (!text) return entry + "\n";
  const auto settings = parse_toml(*text);
  if (!settings) return not_toml(settings.error());
  if (names_lease(*settings)) return text;
  // A text whose last line has no end gets ours without one.
  std::string with =
      text->empty() || text->ends_with('\n') ? *text + "\n" + entry + "\n" : *text + "\n\n" + entry;
  if (!parse_toml(with)) {
    return fail(Code::invalid_argument,
                std::to_string(settings->find("mcp_servers")->line) +
                    ": mcp_servers is written inline, which nothing can be added to. Write its servers as "
                    "[mcp_servers.NAME] tables");
  }
  return with;
}

Result<FileText> without_toml_entry(const FileText& text) {
  const std::string entry(kTomlText);
  if (!text || *text == entry + "\n") return FileText();
  return without_first(*text, {"\n" + entry + "\n", "\n\n" + entry, entry + "\n"});
}

}  // namespace

ServersFile servers_file(HookHost host) {
  switch (host) {
    case HookHost::claude_code:
      return {".mcp.json"};
    case HookHost::codex:
      return {kCodexToml};
    case HookHost::gemini:
      return {hooks_file(host)};
    case HookHost::copilot:
      return {".github/mcp.json"};
    case HookHost::cursor:
      return {".cursor/mcp.json"};
    case HookHost::opencode:
      return {"opencode.json"};
    case HookHost::windsurf:
      return {".codeium/windsurf/mcp_config.json", true};
    case HookHost::cline:
      return {".cline/data/settings/cline_mcp_settings.json", true, "CLINE_MCP_SETTINGS_PATH"};
  }
  return {};
}

Result<FileText> with_server(const FileText& text, HookHost host, const std::string& root) {
  return host == HookHost::codex ? with_toml_entry(text) : with_json_entry(text, spelling_of(host, root));
}

Result<FileText> without_server(const FileText& text, HookHost host, const std::string& root) {
  return host == HookHost::codex ? without_toml_entry(text)
                                 : without_json_entry(text, spelling_of(host, root));
}

}  // namespace leasehold
