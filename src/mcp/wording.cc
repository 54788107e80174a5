#include "mcp/wording.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <string>
#include <string_view>

namespace leasehold::mcp {
namespace {

// How a message ends that names a command, in answers with one of these codes; and how it ends for who has
// tools. Which file or lease is meant stands beside it. Codes whose messages may end with what somebody else
// wrote are not among them.
struct Ending {
  std::string_view codes;
  std::string_view command;
  std::string_view tool;
};
constexpr std::array<Ending, 8> kEndings = {{
    {"transferred stale_token not_owner not_found", "See: lease status", "See lease_status."},
    {"not_found", "To wait no more: lease release ", "To wait no more: lease_release."},
    {"retry_later", "To wait in line instead: lease acquire ",
     "To wait in line instead: lease_acquire with wait_seconds."},
    {"limit_exceeded", "lease release --all", "lease_release."},
    {"invalid_path",
     "Name the folder or the files. (lease acquire takes a folder with all below it: --subtree DIR.)",
     "Name the folder under subtrees of lease_acquire, or the files."},
    {"limit_exceeded", "Name their directory with --subtree, or split the request.",
     "Name their folder under subtrees of lease_acquire, or split the request."},
    {"invalid_argument", "Ask for it without --subtree.", "Ask for it under paths."},
    {"invalid_argument unavailable", "sk without --wait.", "sk without wait_seconds."},
}};

bool has(std::string_view codes, std::string_view code) {
  for (std::size_t at = codes.find(code); at != std::string_view::npos; at = codes.find(code, at + 1)) {
    const std::size_t end = at + code.size();
    if ((at == 0 || codes[at - 1] == ' ') && (end == codes.size() || codes[end] == ' ')) return true;
  }
  return false;
}

std::string in_words_of_tools(std::string_view code, std::string message) {
  for (const Ending& ending : kEndings) {
    const std::size_t at = has(ending.codes, code) ? message.rfind(ending.command) : std::string::npos;
    if (at != std::string::npos) return message.replace(at, std::string::npos, ending.tool);
  }
  return message;
}

}  // namespace

void name_tools(json::object& document) {
  const json::string* const code = text_at(document, "code");
  const json::string* const message = text_at(document, "message");
  if (code != nullptr && message != nullptr)
    document["message"] = in_words_of_tools(*code, std::string(std::string_view(*message)));
  for (auto& member : document) name_tools(member.value());
}

void name_tools(json::value& value) {
  if (json::object* const object = value.if_object()) {
    name_tools(*object);
  } else if (json::array* const list = value.if_array()) {
    for (json::value& one : *list) name_tools(one);
  }
}

}  // namespace leasehold::mcp
