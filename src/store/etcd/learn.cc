// What was found, as records in the tables. What cannot be read is noted under its key, and is an error only
// for those who need it.
#include <fmt/format.h>

#include "store/etcd/failure.h"
#include "store/etcd/ticket_end.h"
#include "store/etcd/transaction.h"
#include "store/json/records_json.h"
#include "store/json/stored_records.h"
#include "util/utf8.h"

namespace leasehold::etcd {
namespace {

using namespace std::chrono_literals;

// How long a lease is taken to go on whose time is over by our clock, and which etcd has not ended: that is
// for etcd to say.
constexpr Duration kNotOverYet = 500ms;

// As much as that clocks are not brought together.
constexpr Duration kClocksDiffer = 1s;

// The part of a member's name behind its area, without the NUL; empty for the guard.
std::string_view name_in_area(std::string_view key) {
  const std::size_t nul = key.find('\0');
  return nul == std::string_view::npos ? std::string_view() : key.substr(nul + 1);
}

}  // namespace

void EtcdTransaction::note_bad(const std::string& key, std::string_view why) { bad_.emplace(key, why); }

void EtcdTransaction::must_be_whole(const KeyRange& range) const {
  const auto found = bad_.lower_bound(range.first);
  if (found == bad_.end() || found->first >= range.second) return;
  throw Failure{{Code::corrupt,
                 fmt::format("The key {} in etcd at {} is not what Leasehold wrote: {}. Look at it with "
                             "etcdctl, then run: lease doctor --repair",
                             in_quotes(found->first), shared_.cluster->address().shown(), found->second)}};
}

// The areas of one path or several: leases, each followed by the key that says it is still held, and tickets.
void EtcdTransaction::learn_paths(const pb::RangeResponse& found) {
  const std::size_t begin = keys_.at({}).size();
  for (int i = 0; i < found.kvs_size(); ++i) {
    const pb::KeyValue& kv = found.kvs(i);
    const std::string_view name = name_in_area(kv.key());
    if (name.starts_with('l') && kv.value().empty()) continue;  // A presence, or what is over.
    if (name.starts_with('l')) {
      auto lease = record_from_json<Lease>(kv.value());
      const std::string lease_name(name.substr(1));
      if (!lease || keys_.lease_at(lease->path, lease_name) != kv.key()) {
        note_bad(kv.key(), "its value is not that lease");
        continue;
      }
      known_leases_[lease->id.text].name = lease_name;
      names_at_[lease->path].insert(lease_name);
      const bool is_present = i + 1 < found.kvs_size() && found.kvs(i + 1).key() == kv.key() + '+';
      learn_lease(std::move(*lease), is_present ? found.kvs(i + 1).mod_revision() : 0, 0);
    } else if (name.starts_with('t')) {
      const std::string path = kv.key().substr(begin, kv.key().find('\0') - begin);
      const Place place = {.key = kv.key(), .mod_revision = kv.mod_revision()};
      if (kv.value().empty()) {
        const GroupId id{std::string(name.substr(1))};
        waits_at_[{path, id}] = place;
        found_tickets_.push_back(id);  // It waits for several paths.
        continue;
      }
      auto ticket = record_from_json<Ticket>(kv.value());
      if (!ticket || (kv.key() != keys_.ticket_at(path, ticket->id) &&
                      kv.key() != keys_.wait_at(path, ticket->request->caller.holder.owner))) {
        note_bad(kv.key(), "its value is not that ticket");
        continue;
      }
      waits_at_[{path, ticket->id}] = place;
      learn_ticket(std::move(*ticket), {});
    }
  }
}

// A lease under its id: where it is held, or all of it.
void EtcdTransaction::learn_lease_record(const pb::KeyValue& kv) {
  if (kv.value().starts_with('@')) {
    const std::string id = kv.key().substr(keys_.id({}).size());
    if (!known_leases_[id].stored) found_paths_.push_back(kv.value().substr(1));
    return;
  }
  auto lease = record_from_json<Lease>(kv.value());
  if (!lease || keys_.id(lease->id) != kv.key()) {
    note_bad(kv.key(), "its value is not that lease");
    return;
  }
  // It was granted to who waited, perhaps: then it is among the holders of its path.
  if (lease->status == Status::pending && !rests_on_wait(lease->group_id)) found_held_.push_back(lease->path);
  learn_lease(std::move(*lease), 0, kv.mod_revision());
}

// Tickets under their ids, each followed by what stands beside it.
void EtcdTransaction::learn_ticket_records(const pb::RangeResponse& found) {
  for (int i = 0; i < found.kvs_size(); ++i) {
    const pb::KeyValue& kv = found.kvs(i);
    if (!name_in_area(kv.key()).empty()) continue;
    auto ticket = record_from_json<Ticket>(kv.value());
    if (!ticket || keys_.ticket(ticket->id) != kv.key()) {
      note_bad(kv.key(), "its value is not that ticket");
      continue;
    }
    TicketRevisions revisions = {.record = kv.mod_revision()};
    if (i + 1 < found.kvs_size() && found.kvs(i + 1).key() == keys_.end_of(ticket->id)) {
      revisions.end = found.kvs(i + 1).mod_revision();
      const std::string_view how = how_it_ended(found.kvs(i + 1).value());
      if (!how.empty() && !add_end(how, *ticket)) {
        note_bad(kv.key(), "what stands beside it is not how it ended");
        continue;
      }
      if (!how.empty()) ends_.emplace(ticket->id.text, how);
    }
    learn_ticket(std::move(*ticket), revisions);
  }
}

// All of one owner.
void EtcdTransaction::learn_owner(const std::string& owner_area, const pb::RangeResponse& found) {
  if (found.more()) {
    found_owners_.push_back(owner_area);
    return;
  }
  retired_[owner_area] = 0;
  auto& owned = owned_[owner_area];
  for (const pb::KeyValue& kv : found.kvs()) {
    const std::string_view name = name_in_area(kv.key());
    if (!name.starts_with('a')) continue;
    if (kv.value().empty()) {
      ++retired_[owner_area];
    } else {
      owned.push_back(Keys::owned_lease(name, kv.value()));
    }
  }
  held_[owner_area] = owned.size();
  learn_of(found, loaded_.contains(leases_wanted(owner_area)));
}

// Of one owner, or several.
void EtcdTransaction::learn_of(const pb::RangeResponse& found, bool with_leases) {
  for (const pb::KeyValue& kv : found.kvs()) {
    const std::string_view name = name_in_area(kv.key());
    if (name.empty() || (name.starts_with('a') && kv.value().empty()))
      continue;  // The guard, or what is over.
    const bool is_changed = changed_values_.contains(kv.key());
    const std::string rest(name.substr(1));
    if (name.starts_with('a')) {
      const auto [id, path] = Keys::owned_lease(name, kv.value());
      if (with_leases && !known_leases_.contains(id.text)) found_paths_.push_back(path);
    } else if (name.starts_with('q')) {
      learn_asked(kv, rest);
    } else if (name.starts_with('w')) {
      if (!known_tickets_.contains(rest)) found_tickets_.push_back({rest});
    } else if (name.starts_with('n')) {
      const auto notice = record_from_json<Notice>(kv.value());
      if (!notice) note_bad(kv.key(), "its value is not a notice");
      if (notice && !is_changed) tables_.set_notice(notice->id, notice);
    } else if (name.starts_with('c')) {
      const auto contention = contention_from_json(kv.value());
      if (!contention) note_bad(kv.key(), "its value is not a contention");
      if (contention && !is_changed)
        tables_.set_contention(contention->owner(), contention->path, contention);
    }
  }
}

// What stands at its path, or under the ticket, says whether it is held or waited for.
void EtcdTransaction::learn_asked(const pb::KeyValue& kv, const std::string& path) {
  const std::string& value = kv.value();
  const std::size_t space = value.find(' ');
  if (space == std::string::npos) {
    note_bad(kv.key(), "its value is not a lease and a ticket");
    return;
  }
  const Asked& asked = asked_[kv.key()] = {.lease = {value.substr(0, space)},
                                           .ticket = {value.substr(space + 1)},
                                           .mod_revision = kv.mod_revision()};
  if (seen_at_.contains(path) || rests_on_wait(asked.ticket)) return;
  found_tickets_.push_back(asked.ticket);
  found_held_.push_back(path);
}

// It is known to wait, and the commit will say whether it still does: then nothing was granted to it, because
// both are written at once.
bool EtcdTransaction::rests_on_wait(const GroupId& id) {
  const auto known = known_tickets_.find(id.text);
  if (known == known_tickets_.end() || !is_pending(known->second.stored)) return false;
  const TicketRevisions& revisions = known->second.revisions;
  if (revisions.record == 0) return false;  // Read at a path: that is to be looked at, unless it was.
  basis_.add(keys_.ticket(id), revisions.record);
  basis_.add(keys_.end_of(id), revisions.end);
  return true;
}

void EtcdTransaction::learn_lease(Lease lease, std::int64_t presence, std::int64_t mod_revision) {
  highest_token_ = std::max(highest_token_, lease.token.value);
  KnownLease& known = known_leases_[lease.id.text];
  known.is_new = false;
  known.mod_revision = std::max(known.mod_revision, mod_revision);
  const bool is_granted = known.stored && known.stored->status == Status::pending && is_active(lease);
  if (known.stored && !is_granted) return;
  known.stored = lease;
  known.presence = presence;
  known.shown_expiry = lease.expires_at;
  // What one member shows may be over, and no commit finds out.
  if (lease.status == Status::active && !writes_ && leftover_.may_be_old && lease.expires_at <= now_)
    throw Conflict();
  // Whether a lease goes on is for etcd to say, not for anybody's clock.
  if (lease.status == Status::active && shared_.options.clock == nullptr) {
    // Nor is there more than its time ahead of it: whoever wrote it had a clock that was fast, and etcd ends
    // it by its own.
    const bool is_ahead = lease.expires_at != kForever && lease.expires_at - now_ > lease.ttl + kClocksDiffer;
    const Time by_clock = is_ahead ? now_ : lease.expires_at;
    known.shown_expiry =
        presence != 0 ? std::max(by_clock, now_ + kNotOverYet) : std::min(lease.expires_at, now_);
  }
  if (known.is_changed) return;
  lease.expires_at = known.shown_expiry;
  const LeaseId id = lease.id;
  tables_.set_lease(id, Tables::StoredLease{.lease = std::move(lease)});
}

void EtcdTransaction::learn_ticket(Ticket ticket, const TicketRevisions& revisions) {
  highest_token_ = std::max(highest_token_, ticket.sequence.value);
  KnownTicket& known = known_tickets_[ticket.id.text];
  known.is_new = false;
  if (known.stored) return;
  known.revisions = revisions;
  known.stored = ticket;
  if (known.is_changed) return;
  const GroupId id = ticket.id;
  tables_.set_ticket(id, std::move(ticket));
}

}  // namespace leasehold::etcd
