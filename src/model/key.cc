#include "model/key.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "util/path_text.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

constexpr std::string_view kFileScheme = "file:";

bool is_separator(char c) { return c == '/' || c == '\\'; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_kind_character(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '+' || c == '.';
}

// A URL's scheme, but never one letter: that is a drive.
bool is_kind(std::string_view kind) {
  return kind.size() >= 2 && is_letter(kind.front()) && std::ranges::all_of(kind, is_kind_character);
}

std::optional<std::string_view> name_behind_kind(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view kind = text.substr(0, colon);
  if (!is_kind(kind) || kind == "file") return std::nullopt;
  return text.substr(colon + 1);
}

bool is_resource_name(std::string_view name) {
  return !name.empty() && !invalid_utf8_at(name) && !has_control_character(name);
}

}  // namespace

Result<void> check_path_text(std::string_view path) {
  if (path.empty()) return fail(Code::invalid_path, "The path is empty. Name a file or a folder.");
  if (path.size() > kPathBytesMax) {
    return fail(Code::invalid_path,
                fmt::format("The path {} has {} bytes; at most {} are allowed. Shorten it.", in_quotes(path),
                            path.size(), kPathBytesMax));
  }
  if (path.find('\0') != std::string_view::npos) {
    return fail(Code::invalid_path,
                fmt::format("The path {} contains a NUL byte, which no path can. Check where it came from.",
                            in_quotes(path)));
  }
  if (const auto at = invalid_utf8_at(path)) {
    return fail(
        Code::invalid_path,
        fmt::format("The path {} is not valid UTF-8 (byte {}). Rename the file, or write its name in UTF-8.",
                    in_quotes(path), *at + 1));
  }
  return {};
}

Result<std::string> path_key(std::string_view path, std::string_view shown) {
  // A backslash never belongs to a name here: agents on every system write src\a.ts for src/a.ts, and which
  // of the two a server was meant to see it cannot know.
  std::string slashed(path);
  std::ranges::replace(slashed, '\\', '/');

  std::string key;
  std::string_view rest = slashed;
  while (const auto segment = next_segment(rest)) {
    if (*segment == ".") continue;
    if (*segment == "..") {
      if (key.empty()) {
        return fail(Code::invalid_path,
                    fmt::format("{} is outside the workspace: \"..\" leads above its root. Name a "
                                "path inside it.",
                                in_quotes(shown)));
      }
      key.resize(key.rfind('/'));
      continue;
    }
    if (segment->size() > kNameBytesMax) {
      return fail(Code::invalid_path,
                  fmt::format("The path {} has a name of {} bytes; at most {} are allowed. Shorten it.",
                              in_quotes(shown), segment->size(), kNameBytesMax));
    }
    key += '/';
    key += *segment;
  }
  if (key.empty()) return "/";
  return key;
}

bool is_resource(std::string_view text) {
  const auto name = name_behind_kind(text);
  return name && is_resource_name(*name);
}

bool is_unnamed_resource(std::string_view text) {
  const auto name = name_behind_kind(text);
  return name && !is_resource_name(*name);
}

std::string_view path_of_file_key(std::string_view text) {
  return text.starts_with(kFileScheme) ? text.substr(kFileScheme.size()) : std::string_view();
}

Result<std::string> key_from_wire(std::string_view text) {
  if (auto checked = check_path_text(text); !checked) return fail(std::move(checked).error());
  if (is_separator(text.front())) return path_key(text, text);
  if (is_resource(text)) return std::string(text);

  const std::string_view path = path_of_file_key(text);
  if (path.starts_with("//")) {
    return fail(Code::invalid_path,
                fmt::format("{} is a URL, not a key. Write file:/ and the path from the workspace root.",
                            in_quotes(text)));
  }
  if (!path.empty() && is_separator(path.front())) return path_key(path, text);
  return fail(Code::invalid_path,
              fmt::format("{} is not a key. Write /path or file:/path from the workspace root, or "
                          "<kind>:<name> such as port:3000.",
                          in_quotes(text)));
}

}  // namespace leasehold
