#include "hook/hook_host.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace leasehold {
namespace {

constexpr HookHost kHosts[] = {HookHost::claude_code, HookHost::codex,  HookHost::gemini,
                               HookHost::copilot,     HookHost::cursor, HookHost::opencode,
                               HookHost::windsurf,    HookHost::cline};
constexpr std::string_view kWords[] = {"claude-code", "codex",    "gemini",   "copilot",
                                       "cursor",      "opencode", "windsurf", "cline"};

}  // namespace

std::span<const HookHost> all_hosts() { return kHosts; }

std::string_view word(HookHost host) { return kWords[static_cast<std::size_t>(host)]; }

std::optional<HookHost> host_named(std::string_view name) {
  const auto* found = std::ranges::find(kWords, name);
  if (found == std::end(kWords)) return std::nullopt;
  return kHosts[found - std::begin(kWords)];
}

std::string host_words(std::string_view between) { return fmt::format("{}", fmt::join(kWords, between)); }

}  // namespace leasehold
