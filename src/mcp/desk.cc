#include "mcp/desk.h"

#include <map>
#include <tuple>

#include "client/named_leases.h"

namespace leasehold::mcp {

Result<OpenWorkspace*> Desk::workspace(For purpose) {
  const std::lock_guard lock(mutex_);
  if (workspace_ != nullptr) return workspace_;
  const auto opened = options_.open(purpose != For::looking, purpose == For::gating);
  if (!opened) return fail(opened.error());
  workspace_ = *opened;
  process_ = workspace_->own_process();
  return workspace_;
}

OpenWorkspace* Desk::opened() {
  const std::lock_guard lock(mutex_);
  return workspace_;
}

Caller Desk::caller(const Peer& peer) {
  Owner owner = options_.owner;
  if (options_.noted) {
    Owner noted = options_.noted();
    if (!noted.agent_id.empty()) owner.agent_id = std::move(noted.agent_id);
    if (!noted.session_id.empty() && peer.session_id.empty()) owner.session_id = std::move(noted.session_id);
  }
  if (owner.agent_id.empty()) owner.agent_id = peer.agent.empty() ? options_.user : peer.agent;
  if (owner.session_id.empty()) {
    owner.session_id = peer.session_id.empty() ? options_.session : peer.session_id;
  }
  const std::lock_guard lock(mutex_);
  return {.holder = {.owner = std::move(owner),
                     .pr_id = options_.pr_id,
                     .host = options_.host,
                     .process = process_},
          .whole_session = options_.whole_session};
}

bool Desk::is_alone(const Caller& caller) const {
  return !options_.session.empty() && caller.holder.owner.session_id == options_.session;
}

bool Desk::is_known_key(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return keys_.contains(path);
}

void Desk::note_key(const std::string& path) {
  const std::lock_guard lock(mutex_);
  keys_.insert(path);
}

Told Desk::note_granted(const Granted& granted) {
  // What the session had already is of the group it came with.
  return note_new(granted.leases, [&](const Lease& lease) { return lease.group_id == granted.group_id; });
}

Told Desk::note_granted(const Allowed& allowed) {
  // The gate queues nobody, so what it grants is collected at once; what the session had already was heard of
  // again.
  return note_new(allowed.leases, [&](const Lease& lease) {
    return allowed.granted && lease.acquired_at == lease.last_heartbeat_at;
  });
}

Told Desk::note_new(const std::vector<Lease>& leases, const std::function<bool(const Lease&)>& is_new) {
  note_held(leases);
  const std::lock_guard lock(mutex_);
  Told told;
  for (const Lease& lease : leases) {
    told.held.push_back(lease.id);
    if (!is_new(lease) || lease.holder.process != process_) continue;
    told.granted.push_back(lease.id);
    granted_.insert(lease.id);
  }
  return told;
}

void Desk::note_held(const std::vector<Lease>& leases) {
  const std::lock_guard lock(mutex_);
  for (const Lease& lease : leases) {
    if (process_ && lease.holder.process == process_) granted_.insert(lease.id);
  }
}

void Desk::note_timed(const std::vector<Lease>& leases) {
  const std::lock_guard lock(mutex_);
  for (const Lease& lease : leases) {
    if (lease.attended) {
      timed_.erase(lease.id);
    } else {
      timed_.insert(lease.id);
    }
  }
}

bool Desk::has_timed() {
  const std::lock_guard lock(mutex_);
  return !timed_.empty();
}

bool Desk::is_timed(const LeaseId& id) {
  const std::lock_guard lock(mutex_);
  return timed_.contains(id);
}

void Desk::give_back(const std::vector<LeaseId>& ids) {
  OpenWorkspace* const workspace = opened();
  if (ids.empty() || workspace == nullptr) return;
  const auto client = workspace->client();
  std::map<Owner, std::vector<LeaseId>> still_ours;
  for (const LeaseId& id : ids) {
    // By now it may be over, or have gone to another agent, perhaps of the same session.
    const auto lease = client->lease(id);
    if (!lease || lease->status != Status::active || lease->holder.process != workspace->own_process())
      continue;
    still_ours[lease->holder.owner].push_back(id);
  }
  for (auto& [owner, leases] : still_ours) {
    // What cannot be given back ends with this process, or by its time.
    std::ignore =
        release_named(*client, {.caller = {.holder = {.owner = owner}}, .which = {.ids = std::move(leases)}});
  }
  forget(ids);
}

void Desk::forget(const std::vector<LeaseId>& ids) {
  const std::lock_guard lock(mutex_);
  for (const LeaseId& id : ids) {
    granted_.erase(id);
    timed_.erase(id);
  }
}

void Desk::end() {
  std::vector<LeaseId> all;
  {
    const std::lock_guard lock(mutex_);
    all.assign(granted_.begin(), granted_.end());
  }
  give_back(all);
}

}  // namespace leasehold::mcp
