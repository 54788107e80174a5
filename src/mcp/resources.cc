#include "mcp/resources.h"

#include <poll.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "mcp/arguments.h"
#include "model/scope.h"
#include "wire/answer_json.h"

namespace leasehold::mcp {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kBoard = "lease://board";
constexpr std::string_view kFile = "lease://file/";
constexpr std::string_view kJson = "application/json";

// How often somebody looks whether there is a store now.
constexpr int kLookEveryMs = 1000;
// How long a look at events waits for news; only a bound, cancelling ends it sooner.
constexpr Duration kWaitForNews = 60s;

int hex(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// "%20" -> " ". Nothing: a % that does not stand for a byte.
std::optional<std::string> without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return std::nullopt;
    plain += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
    i += 2;
  }
  return plain;
}

bool concerns(const Event& event, const std::string& key) {
  return !event.path.empty() && overlaps({key, true}, {event.path, event.subtree});
}

}  // namespace

json::array resource_list() {
  return {
      {{"uri", kBoard}, {"name", "board"}, {"title", "Who holds what and who waits"}, {"mimeType", kJson}}};
}

json::array resource_templates() {
  return {{{"uriTemplate", "lease://file/{+path}"},
           {"name", "file"},
           {"title", "Who holds a file, or what is below a folder"},
           {"mimeType", kJson}}};
}

std::optional<std::string> path_of(std::string_view uri) {
  if (uri == kBoard) return "";
  if (!uri.starts_with(kFile) || uri.size() == kFile.size()) return std::nullopt;
  return without_escapes(uri.substr(kFile.size()));
}

Result<json::object> read_resource(const std::string& path, Desk& desk) {
  const auto workspace = desk.workspace(Desk::For::looking);
  if (!workspace && workspace.error().code == Code::not_found) {
    return json::object{{"leases", json::array()}};
  }
  if (!workspace) return fail(workspace.error());
  Listing listing;
  if (!path.empty()) {
    auto found = keys({path}, desk, **workspace);
    if (!found) return fail(found.error());
    listing.paths = *std::move(found);
  }
  const auto board = (*workspace)->client()->board(listing);
  if (!board) return fail(board.error());
  return board_json(*board);
}

Changes::Changes(Desk& desk) : desk_(desk) {
  if (client() == nullptr) return;
  if (const auto latest = client_->latest_event()) after_ = *latest;
}

Client* Changes::client() {
  if (!client_) {
    if (const auto workspace = desk_.workspace(Desk::For::looking)) client_ = (*workspace)->client();
  }
  return client_.get();
}

std::vector<std::string> Changes::next(const std::vector<std::string>& uris, int cancelled) {
  const auto wait_a_little = [&] {
    pollfd watched = {cancelled, POLLIN, 0};
    ::poll(&watched, 1, kLookEveryMs);
    return std::vector<std::string>();
  };
  if (client() == nullptr) return wait_a_little();
  const auto events = client_->events(after_.value_or(0), kWaitForNews, cancelled);
  if (!events) return wait_a_little();
  if (!events->empty()) after_ = events->back().sequence;
  const auto workspace = desk_.workspace(Desk::For::looking);
  std::vector<std::string> changed;
  for (const std::string& uri : uris) {
    const auto path = path_of(uri);
    if (!path || !workspace) continue;
    const auto key =
        path->empty() ? Result<std::string>("") : (*workspace)->key(*path, {.cwd = desk_.place()});
    if (!key) continue;
    const bool is_concerned =
        key->empty()
            ? !events->empty()
            : std::ranges::any_of(*events, [&](const Event& event) { return concerns(event, *key); });
    if (is_concerned) changed.push_back(uri);
  }
  return changed;
}

}  // namespace leasehold::mcp
