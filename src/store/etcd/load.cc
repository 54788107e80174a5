// What a transaction wants to know: which keys to read, and that they must stay as they are.
#include <algorithm>

#include "model/scope.h"
#include "store/etcd/failure.h"
#include "store/etcd/transaction.h"
#include "store/token.h"

namespace leasehold::etcd {
namespace {

// A caller that gives back everything most often holds a file or two.
constexpr std::size_t kGuessedLeases = 16;

// An owner with more leases than that has them counted, and is read in two steps.
constexpr int kOwnerAtOnce = 64;

// What is known of the cluster from longer ago does not say whether an answer is old.
constexpr std::chrono::seconds kFreshFor{10};

// Of an owner's keys that lead to leases, those that are not over.
std::size_t held_in(const pb::RangeResponse& found) {
  return static_cast<std::size_t>(
      std::ranges::count_if(found.kvs(), [](const pb::KeyValue& kv) { return !kv.value().empty(); }));
}

}  // namespace

// Tells the handlers what this process knows, if that is all they want.
bool EtcdTransaction::answer_from_memory(Round& round) {
  if (revision_ != 0 || !leftover_.may_be_from_memory) return false;
  const std::optional<FromMemory> known = shared_.memory.find(round.ranges, began_ - kFreshFor);
  if (!known) return false;
  was_from_memory_ = true;
  revision_ = known->revision;
  began_ = known->at;
  for (std::size_t i = 0; i < round.ranges.size(); ++i) {
    read_.emplace_back(KeyRange(round.ranges[i].key(), round.ranges[i].range_end()), known->found[i]);
    round.handlers[i](known->found[i]);
  }
  return true;
}

// Sends the round and lets its handlers learn. The first answer also says at which revision all is read.
void EtcdTransaction::run(Round& round) {
  const Known known = shared_.freshness.last();
  const bool is_first = revision_ == 0;
  // Later reads are of the revision this member has just answered with, so it need not ask the others.
  const bool from_one =
      !is_first || (leftover_.may_be_old && known.revision > 0 && began_ - known.at < kFreshFor);
  const auto most = static_cast<std::size_t>(shared_.options.max_txn_ops);
  for (std::size_t begin = 0; begin < round.ranges.size(); begin += most) {
    const std::size_t end = std::min(begin + most, round.ranges.size());
    pb::TxnRequest request;
    for (std::size_t i = begin; i < end; ++i) {
      pb::RangeRequest& range = *request.add_success()->mutable_request_range();
      range = std::move(round.ranges[i]);
      range.set_serializable(from_one);
      if (revision_ != 0) range.set_revision(revision_);
    }
    pb::TxnResponse response = shared_.cluster->read(request);
    if (revision_ == 0) revision_ = response.header().revision();
    if (is_first && from_one) {
      if (revision_ < std::max(known.revision, leftover_.ring ? leftover_.ring->revision : 0))
        throw Conflict();
      began_ = known.at;
    } else if (is_first) {
      shared_.freshness.note({.revision = revision_, .at = began_});
    }
    for (std::size_t i = begin; i < end; ++i) {
      const int place = static_cast<int>(i - begin);
      pb::RangeResponse& found = *response.mutable_responses(place)->mutable_response_range();
      round.handlers[i](found);
      if (!writes_) continue;
      const pb::RangeRequest& asked = request.success(place).request_range();
      KeyRange range(asked.key(), asked.range_end());
      if (Memory::may_keep(found)) {
        shared_.memory.compare(range, found, began_);
        read_.emplace_back(std::move(range), std::move(found));
      } else {
        shared_.memory.forget(range);
      }
    }
  }
}

void EtcdTransaction::load(Round& round) {
  while (!round.empty()) {
    if (!answer_from_memory(round)) run(round);
    round = {};
    for (const std::string& area : std::exchange(found_owners_, {})) want_large_owner(round, area);
    for (const GroupId& id : std::exchange(found_tickets_, {})) want_ticket(round, id);
    for (const std::string& path : std::exchange(found_paths_, {})) want_path(round, path);
    for (const std::string& path : std::exchange(found_held_, {})) want_holders(round, path);
  }
}

void EtcdTransaction::set_clock(WallTime stamp) {
  const StoreClock* const clock = shared_.options.clock;
  wall_ = clock != nullptr ? clock->wall() : shared_.timeline.now(stamp);
  now_ = clock != nullptr ? clock->now() : Time(wall_.time_since_epoch());
}

bool EtcdTransaction::resume() {
  was_from_memory_ = true;
  set_clock(stamp_);
  const auto is_over = [this](const auto& known) {
    return is_active(known.second.stored) && known.second.shown_expiry <= now_;
  };
  return since_boot() - began_ < kFreshFor && std::ranges::none_of(known_leases_, is_over);
}

// What time it is, where tokens begin, and which part of history is being written. Read first, so that what
// is learned next can be told from what is over.
void EtcdTransaction::want_clock(Round& round) {
  round.ask(stamp_key(shared_.prefix()), [this](const pb::RangeResponse& found) {
    stamp_ = WallTime(WallTime::duration(number(found)));
    set_clock(stamp_);
  });
  if (!writes_) {
    round.ask(keys_.era(), [this](const pb::RangeResponse& found) {
      bucket_ = static_cast<std::uint64_t>(number(found));
    });
    return;
  }
  round.ask(base_key(shared_.prefix()), [this](const pb::RangeResponse& found) {
    base_ = static_cast<std::uint64_t>(number(found));
    if (base_ == 0 && found.kvs_size() > 0)
      note_bad(base_key(shared_.prefix()), "it is not where tokens begin");
  });
  round.ask(keys_.era(), [this](const pb::RangeResponse& found) {
    bucket_ = static_cast<std::uint64_t>(number(found));
    era_revision_ = found.kvs_size() == 0 ? 0 : found.kvs(0).mod_revision();
  });
}

void EtcdTransaction::want_path(Round& round, const std::string& path) {
  if (!is_first_time("at " + path)) return;
  const KeyRange range = area(keys_.at(path));
  basis_.add(range);
  round.ask(range, [this, path](const pb::RangeResponse& found) {
    learn_paths(found);
    seen_at_.insert(path);
  });
}

// Who holds a path, where many may wait. Not a basis: whoever changes a lease makes its path one.
void EtcdTransaction::want_leases_at(Round& round, const std::string& path) {
  if (!is_first_time("held " + path)) return;
  round.ask(keys_.leases_at(path), [this](const pb::RangeResponse& found) { learn_paths(found); });
}

// The same as a basis.
void EtcdTransaction::want_holders(Round& round, const std::string& path) {
  if (loaded_.contains("at " + path)) return;
  basis_.add(keys_.leases_at(path));
  want_leases_at(round, path);
}

void EtcdTransaction::want_scope(Round& round, const Scope& scope) {
  want_path(round, scope.path);
  for (const std::string& above : ancestors(scope.path)) want_path(round, above);
  if (!scope.subtree || !is_path(scope.path) || !is_first_time("below " + scope.path)) return;
  const KeyRange range = names_below(keys_.at(prefix_below(scope.path)));
  basis_.add(range);
  round.ask(range, [this](const pb::RangeResponse& found) { learn_paths(found); });
}

// For what is not a basis, and so not checked by the commit: it must not be old.
void EtcdTransaction::want_latest() const {
  if (leftover_.may_be_old) throw Conflict();
}

// Not a basis: whatever of it the body changes is protected by itself.
void EtcdTransaction::want_all_paths(Round& round) {
  want_latest();
  if (!is_first_time("all paths")) return;
  round.ask(names_below(keys_.all("at/")), [this](const pb::RangeResponse& found) { learn_paths(found); });
}

void EtcdTransaction::want_all_tickets(Round& round) {
  want_latest();
  if (!is_first_time("all tickets")) return;
  round.ask(names_below(keys_.all("ticket/")),
            [this](const pb::RangeResponse& found) { learn_ticket_records(found); });
}

void EtcdTransaction::want_lease(Round& round, const LeaseId& id) {
  const std::string key = keys_.id(id);
  if (!is_first_time(key)) return;
  round.ask(key, [this, id, key](const pb::RangeResponse& found) {
    basis_.add(key, found.kvs_size() == 0 ? 0 : found.kvs(0).mod_revision());
    known_leases_[id.text].is_new = false;
    if (found.kvs_size() > 0) learn_lease_record(found.kvs(0));
  });
}

void EtcdTransaction::want_ticket(Round& round, const GroupId& id) {
  const std::string key = keys_.ticket(id);
  if (!is_first_time(key)) return;
  round.ask(area(key), [this, id](const pb::RangeResponse& found) {
    const auto revision = [&](const std::string& part) -> std::int64_t {
      const auto kv = std::ranges::find(found.kvs(), part, &pb::KeyValue::key);
      return kv == found.kvs().end() ? 0 : kv->mod_revision();
    };
    for (const std::string& part : {keys_.ticket(id), keys_.end_of(id)}) basis_.add(part, revision(part));
    known_tickets_[id.text].is_new = false;
    learn_ticket_records(found);
  });
}

// How many leases it has, and all else there is of it.
void EtcdTransaction::want_owner(Round& round, const std::string& owner_area) {
  if (!is_first_time(owner_area)) return;
  basis_.add(area(owner_area));
  round
      .ask(area(owner_area),
           [this, owner_area](const pb::RangeResponse& found) { learn_owner(owner_area, found); })
      .set_limit(kOwnerAtOnce);
}

// One that may have any number of leases: they are counted.
void EtcdTransaction::want_large_owner(Round& round, const std::string& owner_area) {
  round
      .ask(keys_.leases_of(owner_area),
           [this, owner_area](const pb::RangeResponse& found) {
             // Merely counted, some may be over; who comes near a limit reads them.
             held_[owner_area] =
                 found.kvs_size() == 0 ? static_cast<std::size_t>(found.count()) : held_in(found);
             learn_of(found);
           })
      .set_count_only(!loaded_.contains(leases_wanted(owner_area)));
  round.ask(keys_.rest_of(owner_area), [this](const pb::RangeResponse& found) { learn_of(found); });
}

void EtcdTransaction::want_leases_of(Round& round, const std::string& owner_area) {
  if (!is_first_time(leases_wanted(owner_area))) return;
  want_owner(round, owner_area);
  if (const auto owned = owned_.find(owner_area); owned != owned_.end()) {
    for (const auto& [id, path] : owned->second) {
      if (!known_leases_.contains(id.text)) want_path(round, path);
    }
  } else if (held_.contains(owner_area)) {
    round.ask(keys_.leases_of(owner_area), [this, owner_area](const pb::RangeResponse& found) {
      held_[owner_area] = held_in(found);
      learn_of(found);
    });
  }
}

// All of all owners of a session.
void EtcdTransaction::want_session(Round& round, const std::string& session_id) {
  const std::string prefix = keys_.of_session(session_id);
  if (!is_first_time(prefix)) return;
  basis_.add(names_below(prefix));
  round.ask(names_below(prefix), [this](const pb::RangeResponse& found) { learn_of(found); });
}

// Somebody waits for what is given back: the first of them are about to get it.
void EtcdTransaction::want_first_in_line(Round& round) {
  for (const Ticket* ticket : first_in_line()) {
    for (const LeaseId& id : ticket->leases) want_lease(round, id);
    // To look below a directory disturbs everybody, and it is not certain yet that it has to be.
    for (const WantedPath& wanted : ticket->request->paths) {
      if (!wanted.subtree) want_scope(round, wanted.scope());
    }
    want_owner(round, keys_.of(ticket->request->caller.holder.owner));
  }
}

void EtcdTransaction::want_next(Round& round, const std::string& workspace, const std::string& path) {
  const NextInLine next = shared_.rings.take_next(workspace, path);
  if (next.owner.agent_id.empty()) return;
  want_owner(round, keys_.of(next.owner));
  for (const LeaseId& id : next.leases) want_lease(round, id);
}

void EtcdTransaction::ensure(const Scope& scope) {
  Round round;
  want_new(round);
  want_scope(round, scope);
  load(round);
  if (bad_.empty()) return;
  must_be_whole(area(keys_.at(scope.path)));
  for (const std::string& above : ancestors(scope.path)) must_be_whole(area(keys_.at(above)));
  if (scope.subtree && is_path(scope.path)) must_be_whole(names_below(keys_.at(prefix_below(scope.path))));
}

// The grant that is looked for came with the ring. It was committed not long ago, and this process has
// heard nothing of the cluster since. Of its owner only the notices are known: nothing else is looked for.
bool EtcdTransaction::was_told(const Footprint& footprint) {
  const Known known = shared_.freshness.last();
  const std::optional<Ring>& ring = leftover_.ring;
  if (!ring || !tells_all(*ring, footprint)) return false;
  if (ring->revision < known.revision || began_ - known.at > kFreshFor) return false;
  revision_ = ring->revision;
  set_clock(WallTime());
  loaded_.insert(keys_.ticket(ring->ticket->id));
  loaded_.insert(keys_.of(ring->ticket->request->caller.holder.owner));
  learn_ticket(*ring->ticket, {.record = ring->revision});
  for (const Lease& lease : ring->leases) {
    loaded_.insert(keys_.id(lease.id));
    learn_lease(lease, ring->revision, 0);
  }
  return true;
}

// Says where tokens begin, unless somebody else has just done so.
void EtcdTransaction::make_base() const {
  const std::string key = base_key(shared_.prefix());
  pb::TxnRequest request;
  *request.add_compare() = exactly(key, 0);
  *request.add_success() = put_op(key, std::to_string(token_after({}, wall_).value));
  shared_.cluster->read(request);
}

void EtcdTransaction::begin(const Footprint& footprint) {
  began_ = since_boot();
  if (was_told(footprint)) return;
  Round round;
  want_clock(round);
  for (const Scope& scope : footprint.scopes) {
    want_scope(round, scope);
    if (footprint.gives_back) want_next(round, footprint.workspace, scope.path);
  }
  // Before what leads to them: of who is known to wait nothing else has to be looked at.
  for (const GroupId& id : footprint.tickets) {
    want_ticket(round, id);
    for (const LeaseId& lease : shared_.hints.leases_of(id)) {
      if (const std::string path = shared_.hints.path_of(lease); !path.empty()) want_leases_at(round, path);
      want_lease(round, lease);
    }
  }
  const bool names_no_lease = footprint.scopes.empty() && footprint.leases.empty();
  for (const Owner& owner : footprint.owners) {
    const std::string owner_area = keys_.of(owner);
    if (footprint.gives_back && names_no_lease) {
      want_leases_of(round, owner_area);
      for (const std::string& path : shared_.hints.held_by(owner_area, kGuessedLeases)) {
        want_scope(round, {path});
        want_next(round, footprint.workspace, path);
      }
    }
    want_owner(round, owner_area);
  }
  for (const LeaseId& id : footprint.leases) {
    want_lease(round, id);
    if (const std::string path = shared_.hints.path_of(id); writes_ && !path.empty())
      want_scope(round, {path});
  }
  for (const LeaseId& id : leftover_.leases) want_lease(round, id);
  for (const GroupId& id : leftover_.tickets) want_ticket(round, id);
  load(round);
  if (writes_ && base_ == 0) {
    must_be_whole(base_key(shared_.prefix()));
    make_base();
    throw Conflict();
  }
  if (writes_ && footprint.gives_back) {
    want_first_in_line(round);
    load(round);
  }
}

}  // namespace leasehold::etcd
