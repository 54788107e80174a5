#include "init/codex_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "init/marked_block.h"

namespace leasehold {
namespace {

// Strings, numbers and lists of JSON read the same in TOML.
std::string toml_lines(std::span<const HookGroup> groups) {
  std::string lines;
  for (const HookGroup& group : groups) {
    lines += fmt::format("[[hooks.{}]]\n", group.event);
    if (!group.matcher.empty()) lines += fmt::format("matcher = \"{}\"\n", group.matcher);
    lines += fmt::format("[[hooks.{}.hooks]]\n", group.event);
    const boost::json::value handler = boost::json::parse(group.handler);
    for (const auto& [name, value] : handler.as_object())
      lines += fmt::format("{} = {}\n", std::string_view(name), boost::json::serialize(value));
  }
  return lines;
}

}  // namespace

std::unexpected<Error> not_toml(const TomlError& error) {
  return fail(Code::invalid_argument, fmt::format("{}: {}", error.line, error.what));
}

Result<bool> has_codex_hooks(const FileText& text) {
  if (!text) return false;
  const auto table = parse_toml(without_block(*text));
  if (!table) return not_toml(table.error());
  const TomlValue* hooks = table->find("hooks");
  const auto* events = hooks == nullptr ? nullptr : hooks->as<TomlTable>();
  // "state" is where Codex remembers what its user trusts.
  return events != nullptr &&
         std::ranges::any_of(events->entries, [](const TomlEntry& entry) { return entry.key != "state"; });
}

Result<FileText> with_codex_hooks(const FileText& text, std::span<const HookGroup> groups) {
  const std::string lines = toml_lines(groups);
  if (text && has_block_of(*text, lines)) return text;
  std::string with = with_block_at_end(without_block(text.value_or("")), lines);
  if (!parse_toml(with)) {
    return fail(Code::invalid_argument,
                "1: its hooks are inline lists, which nothing can be added to. Write them as "
                "[[hooks.EVENT]] tables");
  }
  return with;
}

Result<FileText> without_codex_hooks(const FileText& text) {
  if (!text) return text;
  return without_block(*text);
}

}  // namespace leasehold
