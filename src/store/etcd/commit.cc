// What a body changed, as one transaction of etcd's.
#include <algorithm>

#include "store/etcd/failure.h"
#include "store/etcd/ticket_end.h"
#include "store/etcd/transaction.h"
#include "store/json/stored_records.h"

namespace leasehold::etcd {
namespace {

using namespace std::chrono_literals;

// A guard has to outlive every commit that was under way when it was written.
constexpr std::chrono::seconds kGuardLife = 60s;
constexpr std::chrono::seconds kGuardSlack = 20s;

// Who slept longer than this since it read decides anew. From here on the request's own lease of etcd's
// limits how late a commit may be made, and together they are less than a guard's life.
constexpr std::chrono::seconds kOldestDecision = 20s;
static_assert(kOldestDecision + kRequestLife + kRequestSlack < kGuardLife);

// A stamp that is younger says as much.
constexpr std::chrono::milliseconds kStampLife = 100ms;

// Half of what etcd takes, so that as many operations find their place.
std::size_t compares_max(int ops_max) { return static_cast<std::size_t>(ops_max) / 2 - 1; }

}  // namespace

bool EtcdTransaction::has_changes() const {
  return !changed_leases_.empty() || !changed_tickets_.empty() || !changed_values_.empty() ||
         !changed_settings_.empty() || !events_.empty() || !bells_.empty() || !trimmed_.empty();
}

bool EtcdTransaction::commit() {
  if (!has_changes()) return true;
  load_places();
  Changes changes;
  for (const LeaseId& id : changed_leases_) {
    const KnownLease& known = known_leases_[id.text];
    if (is_active(known.stored) && !stays(id)) names_at_[known.stored->path].erase(known.name);
  }
  for (const LeaseId& id : changed_leases_) write_lease(changes, id);
  for (const GroupId& id : changed_tickets_) write_ticket(changes, id);
  write_others(changes);
  tidy(changes);
  if (!execute(changes)) {
    leave_new(leftover_);
    return false;
  }
  leave_hints(shared_.hints);
  turn_bucket();
  return true;
}

void EtcdTransaction::write_others(Changes& changes) {
  for (const auto& [key, value] : changed_values_) {
    if (value) {
      changes.put(key, *value);
    } else {
      changes.erase(key);
    }
  }
  for (const auto& [stored_key, setting] : changed_settings_) {
    const std::string key = Keys::member(keys_.configs(), 's', stored_key);
    if (setting) {
      changes.put(key, to_json(*setting));
    } else {
      changes.erase(key);
      changes.guard(keys_.configs());
    }
  }
  for (const std::string& area : changed_areas_) changes.guard(area);
  const bool is_stamped = stamp_ <= wall_ && wall_ - stamp_ < kStampLife;
  if (shared_.options.clock == nullptr && !is_stamped)
    changes.put(stamp_key(shared_.prefix()), std::to_string(wall_.time_since_epoch().count()));
}

// A ring is written where the end of a ticket stands, and what its owner asked for says where it waits: that
// has to be known.
void EtcdTransaction::load_places() {
  Round round;
  for (const GroupId& id : changed_tickets_) {
    const std::optional<Ticket>& before = known_tickets_[id.text].stored;
    if (!is_pending(before) || before->request->paths.size() != 1) continue;
    if (!waits_at_.contains({before->request->paths.front().path, id}))
      want_owner(round, keys_.of(before->request->caller.holder.owner));
  }
  for (const GroupId& id : bells_) {
    if (!known_tickets_.contains(id.text)) want_ticket(round, id);
  }
  load(round);
}

// Those for whoever has not ended, or waits for an instruction: such a ring goes soon.
bool EtcdTransaction::has_lone_rings() const {
  return std::ranges::any_of(bells_, [this](const GroupId& id) { return !ends_.contains(id.text); });
}

void EtcdTransaction::ring_bells(Changes& changes, std::int64_t guard_lease) {
  for (const GroupId& id : bells_) {
    const auto end = ends_.find(id.text);
    const bool is_lone = end == ends_.end();
    changes.put(keys_.end_of(id), rung(is_lone ? "" : end->second, to_text(ring_of(id))),
                is_lone ? guard_lease : 0);
  }
}

// What the body does at a path where somebody waits, or comes to wait.
struct EtcdTransaction::Line {
  std::map<std::string, std::int64_t> changed;  // Who waited there and is changed, as it was read.
  bool is_waited_in = false;
  bool is_joined = false;
  bool changes_leases = false;
};

std::map<std::string, EtcdTransaction::Line> EtcdTransaction::lines() {
  std::map<std::string, Line> lines;
  for (const auto& [id, known] : known_tickets_) {
    if (!is_pending(known.stored)) continue;
    for (const WantedPath& wanted : known.stored->request->paths) lines[wanted.path].is_waited_in = true;
  }
  for (const GroupId& id : changed_tickets_) {
    const std::optional<Ticket>& before = known_tickets_[id.text].stored;
    const std::optional<Ticket> after = tables_.ticket(id);
    if (!before && !after) continue;
    for (const WantedPath& wanted : (after ? after : before)->request->paths) {
      Line& line = lines[wanted.path];
      const auto wait = waits_at_.find({wanted.path, id});
      if (wait != waits_at_.end()) line.changed.emplace(wait->second.key, wait->second.mod_revision);
      line.is_joined = line.is_joined || (is_pending(after) && !is_pending(before));
    }
  }
  const auto note = [&](const auto& lease) {
    if (!is_active(lease)) return;
    if (const auto line = lines.find(lease->path); line != lines.end()) line->second.changes_leases = true;
  };
  for (const LeaseId& id : changed_leases_) {
    note(known_leases_[id.text].stored);
    note(tables_.find_lease(id));
  }
  return lines;
}

// A line's guard is written (marked) by everybody whose decision rests on the whole line. Those who come
// behind, and those who give the path to one who waits, do not write it, and so do not disturb each other.
void EtcdTransaction::keep_lines(Changes& changes) {
  const auto rest_on = [&](const std::string& path, const KeyRange& rest,
                           const std::map<std::string, std::int64_t>& waits) {
    // Many conditions are made fewer, and then what is deleted may not be noticed.
    if (basis_.size() + waits.size() > compares_max(shared_.options.max_txn_ops)) return;
    basis_.remove(area(keys_.at(path)));
    basis_.add(rest);
    for (const auto& [key, revision] : waits) basis_.add(key, revision);
  };
  for (const auto& [path, line] : lines()) {
    const std::string name = keys_.at(path);
    const auto joined = joined_.find(path);
    const bool is_read = loaded_.contains("at " + path);
    if (growing_.contains(path) && !line.is_joined) {
      if (is_read) rest_on(path, keys_.held_at(path), line.changed);
    } else if (joined != joined_.end() && line.changed.empty() && !line.changes_leases) {
      const auto wait = joined->second ? waits_at_.find({path, *joined->second}) : waits_at_.end();
      if (wait != waits_at_.end())
        rest_on(path, {name, name + '\0'}, {{wait->second.key, wait->second.mod_revision}});
    } else if (is_read || line.changes_leases ? line.is_waited_in : line.is_joined) {
      changes.mark(name);
    }
  }
}

bool EtcdTransaction::execute(Changes& changes) {
  RequestSlot slot = shared_.requests.take();
  // Whatever happens next it may be used again: each use begins with what the last one is known to have left.
  struct Return {
    Requests& requests;
    RequestSlot& slot;
    ~Return() { requests.give_back(std::move(slot)); }
  } held{shared_.requests, slot};

  if (since_boot() - began_ > kOldestDecision) return false;

  const std::string first_event =
      write_events(changes, slot.key.substr(slot.key.find("/request/") + 9) + "-" + slot.request);
  keep_lines(changes);
  // Etcd may have ended a lease since that was known, and there is no room for conditions that would tell.
  if (was_from_memory_ && !basis_.has_room_for_fleeting(compares_max(shared_.options.max_txn_ops)))
    return false;
  std::int64_t guard_lease = 0;
  if (has_lone_rings() || changes.needs_guards())
    guard_lease = shared_.leases.borrow(kGuardLife, kGuardSlack);
  ring_bells(changes, guard_lease);

  std::vector<pb::RequestOp> ops = changes.ops(guard_lease);
  const bool writes_name = needs_name(slot, first_event);
  if (writes_name) ops.push_back(write_name(slot, slot.request));
  std::vector<pb::Compare> compares = basis_.compares(revision_, compares_max(shared_.options.max_txn_ops));
  compares.push_back(unchanged(slot));
  pb::TxnRequest request =
      transaction_of(std::move(compares), std::move(ops),
                     static_cast<std::size_t>(shared_.options.max_txn_ops), shared_.cluster->address());
  *request.add_failure() = read_back(slot.key);

  const std::chrono::nanoseconds sent = since_boot();
  if (writes_name) slot.written = std::chrono::steady_clock::now();
  std::optional<pb::TxnResponse> response;
  try {
    response = shared_.cluster->write(request);
  } catch (const LeaseGone&) {
    shared_.leases.drop_all();
    return false;
  }
  if (response && response->succeeded()) {
    committed_ = response->header().revision();
    if (writes_name) slot.mod_revision = committed_;
  } else if (response) {
    const pb::RangeResponse& found = response->responses(0).response_range();
    slot.mod_revision = found.kvs_size() == 0 ? 0 : found.kvs(0).mod_revision();
    return false;
  } else {
    committed_ = shared_.requests.made_at(slot);
    if (committed_ == 0) return false;
  }
  shared_.freshness.note({.revision = committed_, .at = sent});
  remember(request, sent);
  return true;
}

// Nobody changed what was read until this was committed, so all of it is known as of now.
void EtcdTransaction::remember(const pb::TxnRequest& commit, std::chrono::nanoseconds sent) {
  for (auto& [range, found] : read_) {
    const bool is_changed = apply(commit, committed_, range, found);
    const bool is_waited_in =
        std::ranges::any_of(found.kvs(), [](const pb::KeyValue& kv) { return Keys::is_wait(kv.key()); });
    if (range.first == stamp_key(shared_.prefix()) || range.first == base_key(shared_.prefix())) {
      // No decision rests on these, and no commit says that they are as they were: they grow old.
      shared_.memory.keep({std::move(range), std::move(found), 0, INT64_MAX, began_});
    } else if (basis_.has(range) && !is_waited_in && !is_full_of_retired(range.first)) {
      shared_.memory.keep(
          {std::move(range), std::move(found), is_changed ? committed_ : revision_, committed_, sent});
    } else {
      // Where somebody waits others are about to change things; and what etcd has dropped only a read tells.
      shared_.memory.forget(range);
    }
  }
}

}  // namespace leasehold::etcd
