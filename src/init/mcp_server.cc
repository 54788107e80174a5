#include "init/mcp_server.h"

#include <algorithm>

#include "init/codex_toml.h"
#include "init/json_spans.h"

namespace leasehold {
namespace {

// What a JSON file of servers has. Each spelling is one that only we write, so that the text tells what it
// was before.
struct Spelling {
  std::string_view file;
  std::string_view member;  // Under which the servers are.
  std::string_view value;

  std::string entry() const { return "\n    \"lease\": " + std::string(value); }
  std::string servers() const { return "\n  \"" + std::string(member) + "\": {" + entry() + "\n  }"; }
  std::string whole_file() const { return "{" + servers() + "\n}\n"; }
};

constexpr std::string_view kCommand = R"({"command": "lease", "args": ["mcp"]})";
constexpr Spelling kClaude = {".mcp.json", "mcpServers", kCommand};
constexpr Spelling kCursor = {".cursor/mcp.json", "mcpServers", kCommand};
constexpr Spelling kOpenCode = {"opencode.json", "mcp", R"({"type": "local", "command": ["lease", "mcp"]})"};

// Null: it has none of these; Codex's is TOML, others read servers only from the user's home.
const Spelling* spelling_of(HookHost host) {
  if (host == HookHost::claude_code) return &kClaude;
  if (host == HookHost::cursor) return &kCursor;
  if (host == HookHost::opencode) return &kOpenCode;
  return nullptr;
}

constexpr std::string_view kTable = "[mcp_servers.lease]";
constexpr std::string_view kTomlText = "[mcp_servers.lease]\ncommand = \"lease\"\nargs = [\"mcp\"]";

std::unexpected<Error> not_an_object(std::string_view text, std::size_t at, std::string_view what) {
  const auto line = 1 + std::ranges::count(text.substr(0, at), '\n');
  return fail(Code::invalid_argument,
              std::to_string(line) + ": " + std::string(what) + " has to be an object, {...}");
}

Result<FileText> with_json_entry(const FileText& text, const Spelling& ours) {
  if (!text) return ours.whole_file();
  const auto spans = json_spans(*text);
  if (!spans) return fail(spans.error());
  if (!*spans) return *text + ours.whole_file();
  const JsonSpan& root = **spans;
  if (root.kind != '{') return not_an_object(*text, root.begin, "the file");
  const JsonMember* const servers = root.find(ours.member);
  const JsonSpan& around = servers == nullptr ? root : servers->value;
  if (around.kind != '{') return not_an_object(*text, around.begin, ours.member);
  if (servers != nullptr && around.find("lease") != nullptr) return text;
  std::string with = *text;
  with.insert(around.begin + 1,
              (servers == nullptr ? ours.servers() : ours.entry()) + (around.members.empty() ? "" : ","));
  return with;
}

Result<FileText> without_json_entry(const FileText& text, const Spelling& ours) {
  if (!text || *text == ours.whole_file()) return FileText();
  // One that somebody put another behind or in front of, too.
  for (const std::string& piece : {ours.whole_file(), ours.servers() + ",", ours.servers(),
                                   ours.entry() + ",", "," + ours.entry(), ours.entry()}) {
    const std::size_t at = text->find(piece);
    if (at == std::string::npos) continue;
    std::string without = *text;
    without.erase(at, piece.size());
    return without;
  }
  return text;
}

Result<FileText> with_toml_entry(const FileText& text) {
  const std::string entry(kTomlText);
  if (const auto is_toml = has_codex_hooks(text); !is_toml) return fail(is_toml.error());
  if (!text) return entry + "\n";
  if (text->contains(kTable)) return text;
  // A text whose last line has no end gets ours without one.
  if (text->empty() || text->ends_with('\n')) return *text + "\n" + entry + "\n";
  return *text + "\n\n" + entry;
}

Result<FileText> without_toml_entry(const FileText& text) {
  const std::string entry(kTomlText);
  if (!text || *text == entry + "\n") return FileText();
  for (const std::string& piece : {"\n" + entry + "\n", "\n\n" + entry, entry + "\n"}) {
    const std::size_t at = text->find(piece);
    if (at == std::string::npos) continue;
    std::string without = *text;
    without.erase(at, piece.size());
    return without;
  }
  return text;
}

}  // namespace

std::string_view servers_file(HookHost host) {
  if (host == HookHost::codex) return kCodexToml;
  const Spelling* const ours = spelling_of(host);
  return ours == nullptr ? std::string_view() : ours->file;
}

Result<FileText> with_server(const FileText& text, HookHost host) {
  if (host == HookHost::codex) return with_toml_entry(text);
  const Spelling* const ours = spelling_of(host);
  return ours == nullptr ? text : with_json_entry(text, *ours);
}

Result<FileText> without_server(const FileText& text, HookHost host) {
  if (host == HookHost::codex) return without_toml_entry(text);
  const Spelling* const ours = spelling_of(host);
  return ours == nullptr ? text : without_json_entry(text, *ours);
}

}  // namespace leasehold
