// Our groups in Codex's config.toml, for projects that have their hooks there.
#pragma once

#include <span>
#include <string_view>

#include "init/hook_settings.h"
#include "util/toml.h"

namespace leasehold {

inline constexpr std::string_view kCodexToml = ".codex/config.toml";

// Begins with the line and a colon.
std::unexpected<Error> not_toml(const TomlError& error);

// Whether it has hooks that are not ours. Error: not_toml.
Result<bool> has_codex_hooks(const FileText& text);

// With these groups, in a marked block at the end. Errors: invalid_argument (the file's own hooks are written
// in a way that nothing can be added to).
Result<FileText> with_codex_hooks(const FileText& text, std::span<const HookGroup> groups);
Result<FileText> without_codex_hooks(const FileText& text);

}  // namespace leasehold
