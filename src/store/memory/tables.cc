#include "store/memory/tables.h"

#include <algorithm>
#include <ranges>
#include <unordered_set>

#include "model/scope.h"
#include "store/deadline.h"
#include "store/matching.h"
#include "store/stored.h"

namespace leasehold {
namespace {

bool has_ended(Status status) { return status != Status::active && status != Status::pending; }

bool is_or_was_held(const Lease& lease) {
  return lease.status != Status::pending && lease.status != Status::failed;
}

template <class Key, class Value>
void update(std::map<Key, std::set<Value>>& index, const Key& key, const Value& value, bool insert) {
  if (insert) {
    index[key].insert(value);
  } else if (auto found = index.find(key); found != index.end()) {
    found->second.erase(value);
    if (found->second.empty()) index.erase(found);
  }
}

template <class Value>
void update(std::set<Value>& index, const Value& value, bool insert) {
  if (insert) {
    index.insert(value);
  } else {
    index.erase(value);
  }
}

}  // namespace

void Tables::index(const StoredLease& stored, bool insert) {
  const Lease& lease = stored.lease;
  if (lease.status == Status::active) {
    update(active_by_path_, lease.path, lease.id, insert);
    update(active_by_owner_, lease.holder.owner, lease.id, insert);
    update(active_by_deadline_, {earliest_deadline(lease), lease.id}, insert);
  }
  if (has_ended(lease.status)) update(ended_, {lease.updated_at, lease.id}, insert);
}

void Tables::index_held(const StoredLease& stored, bool insert) {
  if (!is_or_was_held(stored.lease)) return;
  auto& newest_last = held_by_path_[stored.lease.path];
  if (insert) {
    newest_last[stored.insertion] = stored.lease.id;
  } else {
    newest_last.erase(stored.insertion);
    if (newest_last.empty()) held_by_path_.erase(stored.lease.path);
  }
}

void Tables::index(const Ticket& ticket, bool insert) {
  if (ticket.status != Status::pending) return;
  update(pending_by_deadline_, {earliest_deadline(ticket), ticket.id}, insert);
  for (const WantedPath& wanted : ticket.request->paths)
    update(pending_by_path_, wanted.path, ticket.id, insert);
}

std::optional<Tables::StoredLease> Tables::set_lease(const LeaseId& id, std::optional<StoredLease> value) {
  const auto found = leases_.find(id);
  if (found == leases_.end()) {
    if (!value) return std::nullopt;
    if (value->insertion == 0) value->insertion = ++insertions_;
    const StoredLease& stored = leases_.emplace(id, std::move(*value)).first->second;
    index(stored, true);
    index_held(stored, true);
    return std::nullopt;
  }
  if (!value) {
    std::optional<StoredLease> before = std::move(found->second);
    leases_.erase(found);
    index(*before, false);
    index_held(*before, false);
    return before;
  }
  replace(found->second, *value);
  return value;
}

// Leaves what was there before in `value`. Most often a lease is renewed or ends, and most indexes stay.
void Tables::replace(StoredLease& stored, StoredLease& value) {
  if (value.insertion == 0) value.insertion = stored.insertion;
  const bool stays = stored.insertion == value.insertion && stored.lease.path == value.lease.path &&
                     is_or_was_held(stored.lease) == is_or_was_held(value.lease);
  index(stored, false);
  if (!stays) index_held(stored, false);
  std::swap(stored, value);
  index(stored, true);
  if (!stays) index_held(stored, true);
}

Tables::Term Tables::set_term(const LeaseId& id, const Term& term) {
  Lease& lease = leases_.at(id).lease;
  auto deadline = active_by_deadline_.extract({earliest_deadline(lease), id});
  Term before(lease);
  lease.expires_at = term.expires_at;
  lease.last_heartbeat_at = term.last_heartbeat_at;
  lease.updated_at = term.updated_at;
  lease.ttl = term.ttl;
  lease.renewal_count = term.renewal_count;
  deadline.value().first = earliest_deadline(lease);
  active_by_deadline_.insert(std::move(deadline));
  return before;
}

std::optional<Ticket> Tables::set_ticket(const GroupId& id, std::optional<Ticket> value) {
  std::optional<Ticket> before;
  if (auto found = tickets_.find(id); found != tickets_.end()) {
    index(found->second, false);
    before = std::move(found->second);
    tickets_.erase(found);
  }
  if (value) {
    const auto [place, _] = tickets_.emplace(id, std::move(*value));
    index(place->second, true);
  }
  return before;
}

std::optional<Answer> Tables::set_answer(const Owner& owner, const std::string& key,
                                         std::optional<Answer> value) {
  std::optional<Answer> before = answer(owner, key);
  if (value) {
    answers_.insert_or_assign({owner, key}, std::move(*value));
  } else {
    answers_.erase({owner, key});
  }
  return before;
}

std::optional<Notice> Tables::set_notice(const std::string& id, std::optional<Notice> value) {
  std::optional<Notice> before;
  if (auto found = notices_.find(id); found != notices_.end()) {
    before = found->second;
    const auto of_owner = notices_by_owner_.find(before->owner);
    of_owner->second.erase(id);
    if (of_owner->second.empty()) notices_by_owner_.erase(of_owner);
  }
  if (value) {
    notices_by_owner_[value->owner].insert(id);
    notices_.insert_or_assign(id, std::move(*value));
  } else {
    notices_.erase(id);
  }
  return before;
}

std::optional<Contention> Tables::set_contention(const Owner& owner, const std::string& path,
                                                 std::optional<Contention> value) {
  std::optional<Contention> before = contention(owner, path);
  if (value) {
    contentions_.insert_or_assign({owner, path}, std::move(*value));
  } else {
    contentions_.erase({owner, path});
  }
  return before;
}

std::optional<RateWindow> Tables::set_rate_window(const std::string& session_id,
                                                  std::optional<RateWindow> value) {
  const auto found = rate_windows_.find(session_id);
  std::optional<RateWindow> before;
  if (found != rate_windows_.end()) before = found->second;
  if (value) {
    rate_windows_.insert_or_assign(session_id, std::move(*value));
  } else {
    rate_windows_.erase(session_id);
  }
  return before;
}

std::optional<SessionPath> Tables::set_session_path(const SessionPath& key,
                                                    std::optional<SessionPath> value) {
  auto& paths = session_paths_[key.session_id];
  std::optional<SessionPath> before;
  if (const auto found = paths.find(key.scope()); found != paths.end()) before = found->second;
  if (value) {
    paths.insert_or_assign(key.scope(), std::move(*value));
  } else {
    paths.erase(key.scope());
  }
  if (paths.empty()) session_paths_.erase(key.session_id);
  return before;
}

// Candidates: the path itself, every ancestor, and for a subtree all below. An ancestor's record
// counts only if it is a subtree one, which the caller looks at.
template <class RecordId>
std::vector<const RecordId*> Tables::candidates(const ByPath<RecordId>& index, const Scope& scope) {
  std::vector<const RecordId*> found;
  const auto take = [&](const std::set<RecordId>& place) {
    for (const RecordId& id : place) found.push_back(&id);
  };
  const auto take_at = [&](const std::string& path) {
    if (auto place = index.find(path); place != index.end()) take(place->second);
  };
  take_at(scope.path);
  const std::size_t at_the_path = found.size();
  for (const std::string& above : ancestors(scope.path)) take_at(above);
  if (scope.subtree) {
    const std::string prefix = prefix_below(scope.path);
    for (auto place = index.lower_bound(prefix); place != index.end() && place->first.starts_with(prefix);
         ++place) {
      take(place->second);
    }
  }
  if (found.size() == at_the_path) return found;  // Those of one place are in order, and each is there once.
  const auto id_of = [](const RecordId* id) -> const RecordId& { return *id; };
  std::ranges::sort(found, {}, id_of);
  const auto repeated = std::ranges::unique(found, {}, id_of);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

std::vector<Lease> Tables::leases_at(const Scope& scope) const {
  std::vector<Lease> found;
  for (const LeaseId* id : candidates(active_by_path_, scope)) {
    const Lease& lease = leases_.at(*id).lease;
    if (overlaps(lease, scope)) found.push_back(lease);
  }
  return found;
}

std::vector<const Ticket*> Tables::find_tickets_at(const Scope& scope) const {
  std::vector<const Ticket*> found;
  for (const GroupId* id : candidates(pending_by_path_, scope)) {
    const Ticket& ticket = tickets_.at(*id);
    const auto touches = [&](const WantedPath& wanted) { return overlaps(wanted, scope); };
    if (std::ranges::any_of(ticket.request->paths, touches)) found.push_back(&ticket);
  }
  return found;
}

std::vector<Ticket> Tables::tickets_at(const std::vector<Scope>& scopes) const {
  std::vector<const Ticket*> found;
  std::unordered_set<const Ticket*> taken;
  for (const Scope& scope : scopes) {
    for (const Ticket* ticket : find_tickets_at(scope)) {
      if (taken.insert(ticket).second) found.push_back(ticket);
    }
  }
  std::vector<Ticket> tickets;
  tickets.reserve(found.size());  // A ticket is large to move.
  for (const Ticket* ticket : found) tickets.push_back(*ticket);
  return tickets;
}

std::vector<InLine> Tables::line_at(const std::string& path) const {
  std::vector<InLine> line;
  for (const Ticket* ticket : find_tickets_at({path, false})) line.push_back(in_short(*ticket));
  return line;
}

std::optional<Lease> Tables::lease(const LeaseId& id) const {
  if (const Lease* found = find_lease(id)) return *found;
  return std::nullopt;
}

const Lease* Tables::find_lease(const LeaseId& id) const {
  const auto found = leases_.find(id);
  return found == leases_.end() ? nullptr : &found->second.lease;
}

std::optional<Ticket> Tables::ticket(const GroupId& id) const {
  const auto found = tickets_.find(id);
  if (found == tickets_.end()) return std::nullopt;
  return found->second;
}

std::optional<Lease> Tables::last_lease(const Filter& whose, const std::string& path) const {
  const auto found = held_by_path_.find(path);
  if (found == held_by_path_.end()) return std::nullopt;
  for (const auto& [insertion, id] : std::views::reverse(found->second)) {
    const Lease& lease = leases_.at(id).lease;
    if (matches(whose, lease.holder)) return lease;
  }
  return std::nullopt;
}

std::optional<Lease> Tables::last_lease(const Owner& owner, const std::string& path) const {
  return last_lease(Filter{.agent_id = owner.agent_id, .session_id = owner.session_id}, path);
}

std::optional<Lease> Tables::last_lease_in(const std::string& session_id, const std::string& path) const {
  return last_lease(Filter{.session_id = session_id}, path);
}

std::vector<Lease> Tables::leases(const Filter& filter) const {
  std::vector<Lease> found;
  for (const auto& [owner, ids] : active_by_owner_) {
    for (const LeaseId& id : ids) {
      const Lease& lease = leases_.at(id).lease;
      if (matches(filter, lease.holder)) found.push_back(lease);
    }
  }
  return found;
}

std::vector<Ticket> Tables::tickets(const Filter& filter) const {
  std::vector<Ticket> found;
  for (const auto& [deadline, id] : pending_by_deadline_) {
    const Ticket& ticket = tickets_.at(id);
    if (matches(filter, ticket.request->caller.holder)) found.push_back(ticket);
  }
  return found;
}

std::size_t Tables::lease_count(const Owner& owner) const {
  const auto found = active_by_owner_.find(owner);
  return found == active_by_owner_.end() ? 0 : found->second.size();
}

std::vector<Notice> Tables::notices(const Owner& owner) const {
  std::vector<Notice> found;
  const auto of_owner = notices_by_owner_.find(owner);
  if (of_owner == notices_by_owner_.end()) return found;
  for (const std::string& id : of_owner->second) {
    found.push_back(notices_.at(id));
  }
  return found;
}

std::optional<Answer> Tables::answer(const Owner& owner, const std::string& key) const {
  const auto found = answers_.find({owner, key});
  if (found == answers_.end()) return std::nullopt;
  return found->second;
}

std::optional<Contention> Tables::contention(const Owner& owner, const std::string& path) const {
  const auto found = contentions_.find({owner, path});
  if (found == contentions_.end()) return std::nullopt;
  return found->second;
}

std::optional<RateWindow> Tables::rate_window(const std::string& session_id, Time now) const {
  const auto found = rate_windows_.find(session_id);
  if (found == rate_windows_.end() || found->second.ends_at <= now) return std::nullopt;
  return found->second;
}

std::vector<SessionPath> Tables::session_paths(const std::string& session_id, WallTime wall) const {
  std::vector<SessionPath> paths;
  const auto found = session_paths_.find(session_id);
  if (found == session_paths_.end()) return paths;
  for (const auto& [scope, path] : found->second) {
    if (!path.drop_at || *path.drop_at > wall) paths.push_back(path);
  }
  return paths;
}

std::vector<RateWindow> Tables::closed_rate_windows(Time now) const {
  std::vector<RateWindow> found;
  for (const auto& [session_id, window] : rate_windows_) {
    if (window.ends_at <= now) found.push_back(window);
  }
  return found;
}

std::vector<SessionPath> Tables::dropped_session_paths(WallTime wall) const {
  std::vector<SessionPath> found;
  for (const auto& [session_id, paths] : session_paths_) {
    for (const auto& [scope, path] : paths) {
      if (path.drop_at && *path.drop_at <= wall) found.push_back(path);
    }
  }
  return found;
}

std::vector<Contention> Tables::contentions(const Filter& filter) const {
  std::vector<Contention> found;
  for (const auto& [key, contention] : contentions_) {
    if (matches(filter, contention.wanted.caller.holder)) found.push_back(contention);
  }
  return found;
}

Due Tables::due(Time moment, std::size_t limit) const {
  Due due;
  for (const auto& [deadline, id] : active_by_deadline_) {
    if (deadline > moment || due.leases.size() == limit) break;
    due.leases.push_back(leases_.at(id).lease);
  }
  for (const auto& [deadline, id] : pending_by_deadline_) {
    if (deadline > moment || due.tickets.size() == limit) break;
    due.tickets.push_back(tickets_.at(id));
  }
  return due;
}

std::vector<LeaseId> Tables::forgettable_leases(Time ended_before, std::size_t limit) const {
  std::vector<LeaseId> found;
  for (const auto& [ended_at, id] : ended_) {
    if (ended_at >= ended_before || found.size() == limit) break;
    found.push_back(id);
  }
  return found;
}

std::vector<GroupId> Tables::forgettable_tickets(Time ended_before, std::size_t limit) const {
  std::vector<GroupId> found;
  for (const auto& [id, ticket] : tickets_) {
    if (found.size() == limit) break;
    if (ticket.status != Status::pending && ticket.ended_at < ended_before) found.push_back(id);
  }
  return found;
}

std::vector<Notice> Tables::forgettable_notices(Time now, std::size_t limit) const {
  std::vector<Notice> found;
  for (const auto& [id, notice] : notices_) {
    if (found.size() == limit) break;
    if (notice.drop_at <= now) found.push_back(notice);
  }
  return found;
}

std::vector<Answer> Tables::forgettable_answers(Time now, std::size_t limit) const {
  std::vector<Answer> found;
  for (const auto& [key, answer] : answers_) {
    if (found.size() == limit) break;
    const bool in_use =
        std::ranges::any_of(answer.leases, [&](const LeaseId& id) { return leases_.contains(id); });
    if (answer.drop_at <= now && !in_use) found.push_back(answer);
  }
  return found;
}

std::vector<Contention> Tables::forgettable_contentions(Time now, std::size_t limit) const {
  std::vector<Contention> found;
  for (const auto& [key, contention] : contentions_) {
    if (found.size() == limit) break;
    if (contention.drop_at <= now) found.push_back(contention);
  }
  return found;
}

}  // namespace leasehold
