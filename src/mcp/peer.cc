#include "mcp/peer.h"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <string_view>
#include <utility>

namespace leasehold::mcp {
namespace {

// How hosts begin their name as a client, and what their hooks call them: both have to be one owner.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kHosts = {{
    {"claude-code", "claude-code"},
    {"codex", "codex"},
    {"gemini", "gemini"},
    {"copilot", "copilot"},
    {"github-copilot", "copilot"},
    {"cursor", "cursor"},
    {"opencode", "opencode"},
    {"cline", "cline"},
    {"Cline", "cline"},
    {"windsurf", "windsurf"},
}};

constexpr std::size_t kNameMax = 128;

std::string text_or_empty(const json::object& object, std::string_view name) {
  const json::string* const text = text_at(object, name);
  return text == nullptr ? std::string() : std::string(std::string_view(*text));
}

// Codex gives its servers no variables, but says with each call which session it is.
std::string codex_session(const json::object& meta) {
  const json::value* told = meta.if_contains("x-codex-turn-metadata");
  if (told == nullptr) return {};
  json::value parsed;
  if (const json::string* text = told->if_string()) {
    json::error_code error;
    parsed = json::parse(*text, error);
    if (error) return {};
    told = &parsed;
  }
  const json::object* const members = told->if_object();
  return members == nullptr ? std::string() : text_or_empty(*members, "session_id");
}

}  // namespace

std::string agent_of(const json::object& client_info) {
  std::string name = text_or_empty(client_info, "name");
  for (const auto& [begin, host] : kHosts) {
    if (name.starts_with(begin)) return std::string(host);
  }
  // An agent's name is printable and not too long; a client's may be anything.
  std::ranges::replace_if(name, [](char c) { return c <= ' ' || c > '~'; }, '-');
  return name.substr(0, kNameMax);
}

Peer peer_of(std::string agent, const json::object& meta) {
  return {.agent = std::move(agent),
          .session_id = codex_session(meta),
          .trace = text_or_empty(meta, "traceparent")};
}

}  // namespace leasehold::mcp
