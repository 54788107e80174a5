#include "cli/board.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>

#include "cli/lease_names.h"
#include "cli/past.h"
#include "model/scope.h"
#include "util/wall_now.h"

namespace leasehold {
namespace {

Board empty_board(WallTime wall) { return {.now = {}, .wall = wall, .rows = {}}; }

// Of a stay or an event.
template <class Record>
bool matches(const Record& record, const Listing& listing) {
  const auto overlaps_path = [&](const std::string& path) {
    return overlaps({path, true}, {record.path, record.subtree});
  };
  return (listing.paths.empty() || std::ranges::any_of(listing.paths, overlaps_path)) &&
         (!listing.agent_id || *listing.agent_id == record.owner.agent_id) &&
         (!listing.session_id || *listing.session_id == record.owner.session_id) &&
         (!listing.pr_id || *listing.pr_id == record.pr_id);
}

// On a time line whose zero is the moment that was asked for.
BoardRow row_of(const Stay& stay, WallTime at) {
  const Time began = Time{} - std::chrono::duration_cast<std::chrono::nanoseconds>(at - stay.from);
  Lease lease = {.id = stay.lease_id,
                 .path = stay.path,
                 .subtree = stay.subtree,
                 .mode = stay.mode,
                 .holder = {.owner = stay.owner, .pr_id = stay.pr_id, .host = {}, .process = {}},
                 .token = stay.token,
                 .status = stay.waits ? Status::pending : Status::active};
  lease.created_at = lease.acquired_at = lease.last_heartbeat_at = lease.updated_at = began;
  lease.expires_at = kForever;
  lease.reason = stay.reason;
  return {std::move(lease), {Liveness::unknown, "history does not tell"}, true};
}

// The part of a long list that one question may name: a server has it in an address.
Listing piece_of(const Listing& listing, std::size_t from) {
  constexpr std::size_t kBytes = 3'000;
  Listing piece = listing;
  piece.paths.clear();
  std::size_t bytes = 0;
  for (std::size_t i = from; i < listing.paths.size() && (i == from || bytes < kBytes); ++i) {
    piece.paths.push_back(listing.paths[i]);
    bytes += listing.paths[i].size() + std::string_view("&path=").size();
  }
  return piece;
}

}  // namespace

Result<Listing> listing(Call& call) {
  const auto workspace = call.workspace();
  if (!workspace) return fail(workspace.error());
  const auto paths = call.paths();
  if (!paths) return fail(paths.error());
  auto keys = keys_to_look_at(call, *paths);
  if (!keys) return fail(keys.error());
  const Arguments& arguments = call.arguments();
  return Listing{.paths = *std::move(keys),
                 .agent_id = arguments.text("agent"),
                 .session_id = arguments.text("session"),
                 .pr_id = arguments.text("pr")};
}

bool concerns(const Event& event, const Listing& listing) { return matches(event, listing); }

Result<Board> look_at_board(Call& call) {
  const auto asked = listing(call);
  if (!asked && asked.error().code == Code::not_found) return empty_board(wall_now());
  if (!asked) return fail(asked.error());
  const auto client = (*call.workspace())->client();
  const Listing first = piece_of(*asked, 0);
  auto all = client->board(first);
  std::size_t done = first.paths.size();
  if (!all || done == asked->paths.size()) return all;
  std::set<LeaseId> seen;
  for (const BoardRow& row : all->rows) seen.insert(row.lease.id);
  while (done < asked->paths.size()) {
    const Listing some = piece_of(*asked, done);
    done += some.paths.size();
    auto board = client->board(some);
    if (!board) return board;
    for (BoardRow& row : board->rows) {
      if (seen.insert(row.lease.id).second) all->rows.push_back(std::move(row));
    }
  }
  std::ranges::stable_sort(all->rows, {}, [](const BoardRow& row) { return row.lease.path; });
  return all;
}

Result<Board> board_at(Call& call, WallTime at) {
  const auto asked = listing(call);
  if (!asked && asked.error().code == Code::not_found) return empty_board(at);
  if (!asked) return fail(asked.error());
  auto events = (*call.workspace())->client()->history({});
  if (!events) return fail(events.error());
  std::erase_if(*events, [&](const Event& event) { return event.wall > at; });
  Board board = empty_board(at);
  std::vector<Stay> all = stays(*events);
  if (auto done = end_in_time(all, *(*call.workspace())->client()); !done) return fail(done.error());
  for (const Stay& stay : all) {
    if ((!stay.to || *stay.to > at) && matches(stay, *asked)) board.rows.push_back(row_of(stay, at));
  }
  std::ranges::stable_sort(board.rows, {}, [](const BoardRow& row) {
    return std::pair(row.lease.path, row.lease.status != Status::active);
  });
  return board;
}

}  // namespace leasehold
