// What can be answered from the other calls, whichever client answers those.
#include "leasehold/client.h"

#include <algorithm>

#include "model/scope.h"
#include "util/stable_hash.h"

namespace leasehold {

Result<std::vector<Lease>> Client::leases(const Listing& listing) {
  auto found = board(listing);
  if (!found) return fail(std::move(found.error()));
  std::vector<Lease> leases;
  for (BoardRow& row : found->rows) {
    if (row.live && row.lease.status == Status::active) leases.push_back(std::move(row.lease));
  }
  return leases;
}

Result<bool> Client::is_locked(const std::string& path) {
  const auto found = leases({.paths = {path}});
  if (!found) return fail(found.error());
  return std::ranges::any_of(*found, [&](const Lease& lease) { return overlaps(lease, {path}); });
}

Result<bool> Client::agent_has_lease(const std::string& agent_id, const std::string& path) {
  const auto found = leases({.paths = {path}, .agent_id = agent_id});
  if (!found) return fail(found.error());
  return std::ranges::any_of(*found, [&](const Lease& lease) { return overlaps(lease, {path}); });
}

Result<RestoredSession> Client::restore_session(AcquireRequest as) {
  auto found = session_paths(as.caller.holder.owner.session_id);
  if (!found) return fail(std::move(found.error()));
  RestoredSession restored = {.paths = {}, .invalid = std::move(found->invalid)};
  // What it still has is not asked for again: calls are counted, and a session may have more paths than
  // calls.
  const Owner owner = as.caller.holder.owner;
  const std::string key = as.idempotency_key;
  const auto held = leases({.agent_id = owner.agent_id, .session_id = owner.session_id});
  if (!held) return fail(held.error());
  for (SessionPath& path : found->paths) {
    const auto has = std::ranges::find_if(*held, [&](const Lease& lease) {
      return lease.scope() == path.scope() && lease.mode == path.mode && lease.holder.owner == owner;
    });
    if (has != held->end()) {
      restored.paths.push_back({std::move(path), AcquireAnswer{.decision = Granted{.leases = {*has}}}});
      continue;
    }
    as.paths = {{.path = path.path, .subtree = path.subtree}};
    as.mode = path.mode;
    // Each path is a request of its own, so each has a key of its own; as short as any, however long the
    // path.
    if (!key.empty()) as.idempotency_key = stable_hash({key, path.subtree ? "+" : "-", path.path});
    auto answer = acquire(as);
    restored.paths.push_back({std::move(path), std::move(answer)});
  }
  return restored;
}

Result<std::uint64_t> Client::latest_event() {
  const auto newest = history({.limit = 1});
  if (!newest) return fail(newest.error());
  return newest->empty() ? 0 : newest->back().sequence;
}

}  // namespace leasehold
