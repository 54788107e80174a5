#include "mcp/resources.h"

#include <poll.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <iterator>

#include "mcp/arguments.h"
#include "model/scope.h"
#include "util/percent.h"
#include "wire/answer_json.h"

namespace leasehold::mcp {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kBoard = "lease://board";
constexpr std::string_view kFile = "lease://file/";
constexpr std::string_view kJson = "application/json";

// How often somebody looks whether there is a store now.
constexpr int kLookEveryMs = 1000;
// How long a look at events waits for news, before it looks whether something ended without any.
constexpr Duration kWaitForNews = 2s;

// Of what a URI names. An absolute path that leads out of the workspace is a key, as answers have it: what is
// out there nobody leases.
Result<std::string> key_at(const std::string& path, const OpenWorkspace& workspace,
                           const std::string& place) {
  auto key = workspace.key(path, {.cwd = place});
  if (key || !path.starts_with('/')) return key;
  auto as_key = workspace.key("file:" + path, {.cwd = place});
  return as_key ? as_key : key;
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
  return percent_decoded(uri.substr(kFile.size()));
}

Result<Listing> listing_of(const std::string& path, Desk& desk) {
  const auto workspace = desk.workspace(Desk::For::looking);
  const bool is_empty = !workspace && workspace.error().code == Code::not_found;
  if (!workspace && !is_empty) return fail(workspace.error());
  Listing listing;
  if (path.empty()) return listing;
  auto found = is_empty ? key_without_store(path, desk) : key_at(path, **workspace, desk.place());
  if (!found) return fail(found.error());
  listing.paths.push_back(*std::move(found));
  return listing;
}

Result<json::object> read_resource(const std::string& path, Desk& desk) {
  const auto listing = listing_of(path, desk);
  if (!listing) return fail(listing.error());
  const auto workspace = desk.workspace(Desk::For::looking);
  if (!workspace && workspace.error().code == Code::not_found) {
    return json::object{{"leases", json::array()}};
  }
  if (!workspace) return fail(workspace.error());
  const auto board = (*workspace)->client()->board(*listing);
  if (!board) return fail(board.error());
  return board_json(*board);
}

std::vector<std::string> concerned(const std::vector<std::string>& uris, const std::vector<Scope>& places,
                                   OpenWorkspace& workspace, const std::string& place) {
  std::vector<std::string> changed;
  if (places.empty()) return changed;
  for (const std::string& uri : uris) {
    const auto path = path_of(uri);
    if (!path) continue;
    const auto key = path->empty() ? Result<std::string>("") : key_at(*path, workspace, place);
    if (!key) continue;
    const auto is_about = [&](const Scope& changed_there) {
      return key->empty() || (!changed_there.path.empty() && overlaps({*key, true}, changed_there));
    };
    if (std::ranges::any_of(places, is_about)) changed.push_back(uri);
  }
  return changed;
}

std::vector<Scope> places_of(const std::vector<Event>& events) {
  std::vector<Scope> places;
  for (const Event& event : events) places.push_back({event.path, event.subtree});
  return places;
}

Changes::Changes(Desk& desk) : desk_(desk) {
  if (client() == nullptr) return;
  if (const auto latest = client_->latest_event()) after_ = *latest;
  ended();  // Which is no news.
}

Client* Changes::client() {
  if (!client_) {
    if (const auto workspace = desk_.workspace(Desk::For::looking)) client_ = (*workspace)->client();
  }
  return client_.get();
}

// That its time is over, or its owner dead, is an event only once somebody finds it in the way.
std::vector<Scope> Changes::ended() {
  std::vector<Scope> places;
  const auto board = client_->board({});
  if (!board) return places;
  std::set<LeaseId> over;
  for (const BoardRow& row : board->rows) {
    if (row.live) continue;
    if (!over_.contains(row.lease.id)) places.push_back(row.lease.scope());
    over.insert(row.lease.id);
  }
  over_ = std::move(over);
  return places;
}

std::vector<std::string> Changes::next(const std::function<std::vector<std::string>()>& uris, int cancelled) {
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
  if (!workspace) return {};
  // Only now: who subscribed during the wait wants to know, too.
  const std::vector<std::string> followed = uris();
  if (followed.empty()) return {};
  std::vector<Scope> places = places_of(*events);
  if (const auto now = std::chrono::steady_clock::now(); now - looked_ >= kWaitForNews) {
    looked_ = now;
    std::ranges::copy(ended(), std::back_inserter(places));
  }
  return concerned(followed, places, **workspace, desk_.place());
}

}  // namespace leasehold::mcp
