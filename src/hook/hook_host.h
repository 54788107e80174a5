// The coding agents whose hooks call us.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace leasehold {

enum class HookHost { claude_code, codex, gemini, copilot, cursor, opencode, windsurf, cline };

// In the order above.
std::span<const HookHost> all_hosts();

std::string_view word(HookHost host);
// Nothing: no agent that can call us is named so.
std::optional<HookHost> host_named(std::string_view name);
// Their words, with this between.
std::string host_words(std::string_view between);

}  // namespace leasehold
