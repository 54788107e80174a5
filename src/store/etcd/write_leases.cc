// Leases and requests that wait, with all that leads to them, as changes of keys.
#include <algorithm>
#include <set>

#include "store/etcd/transaction.h"
#include "store/json/stored_records.h"

namespace leasehold::etcd {
namespace {

using namespace std::chrono_literals;

// etcd may end a lease so much later than it has to: a tenth of its time, within these.
constexpr std::chrono::seconds kLeastSlack = 1s;
constexpr std::chrono::seconds kMostSlack = 5s;

// Of one owner, at a time.
constexpr std::size_t kRetiredMost = 16;

// In one commit.
constexpr std::size_t kTidiedMost = 16;

// What an owner holds is looked at in up to so many places.
constexpr std::size_t kAskedMost = 4;

// It waited, waits no more, and that is all there is to say of it.
bool ends_as_it_waited(const Ticket& before, const Ticket& after) {
  if (before.status != Status::pending || after.status == Status::pending) return false;
  Ticket ended = before;
  ended.status = after.status;
  ended.ended_by = after.ended_by;
  ended.ended_at = after.ended_at;
  ended.leases = after.leases;
  ended.token = after.token;
  return ended == after;
}

}  // namespace

bool EtcdTransaction::ends_by_etcd(const Lease& lease) const {
  return shared_.options.clock == nullptr && lease.expires_at != kForever;
}

// The lease of etcd's that the presence of `lease` is attached to; 0: none, it ends by the clock of the
// tests, or never.
std::int64_t EtcdTransaction::attached_to(const Lease& lease) {
  return ends_by_etcd(lease) ? borrow_for(lease.expires_at - now_) : 0;
}

std::int64_t EtcdTransaction::borrow_for(Time::duration left) {
  const auto life = std::max<std::chrono::seconds>(std::chrono::ceil<std::chrono::seconds>(left), 1s);
  return shared_.leases.borrow(life, std::clamp<std::chrono::seconds>(life / 10, kLeastSlack, kMostSlack));
}

void EtcdTransaction::borrow_ahead() {
  if (shared_.options.clock != nullptr) return;
  shared_.leases.borrow(kRequestLife, kRequestSlack);
  for (const Ticket* ticket : first_in_line()) {
    if (ticket->request->ttl) borrow_for(*ticket->request->ttl);
  }
}

bool EtcdTransaction::is_full_of_retired(const std::string& owner_area) const {
  const auto retired = retired_.find(owner_area);
  return retired != retired_.end() && retired->second >= kRetiredMost;
}

// Was held before and still is, in the same place.
bool EtcdTransaction::stays(const LeaseId& id) {
  const std::optional<Lease>& before = known_leases_[id.text].stored;
  const std::optional<Lease> after = tables_.lease(id);
  return is_active(before) && is_active(after) && before->path == after->path;
}

// A name that no lease of the path has. That nobody else takes it is for the basis to see to.
std::string EtcdTransaction::free_name(const std::string& path, const LeaseId& id) {
  if (!loaded_.contains("at " + path)) return id.text;
  std::set<std::string>& taken = names_at_[path];
  std::string name = "0";
  for (int i = 1; !taken.insert(name).second; ++i) name = std::to_string(i);
  return name;
}

// By a key of its own. Nothing is listed of who was not read, or only counted.
bool EtcdTransaction::is_listed(const std::string& owner_area, const LeaseId& id) const {
  const auto owned = owned_.find(owner_area);
  return owned != owned_.end() && std::ranges::find(owned->second, id, &Owned::first) != owned->second.end();
}

bool EtcdTransaction::is_asked(const Owner& owner, const std::string& path, const LeaseId& id) const {
  const auto asked = asked_.find(keys_.asked(owner, path));
  return asked != asked_.end() && asked->second.lease == id;
}

// The lease that an owner asked for so, if it had it when it was read.
const Lease* EtcdTransaction::got(const std::string& key, const Asked& asked) const {
  const auto known = known_leases_.find(asked.lease.text);
  if (known == known_leases_.end() || !is_active(known->second.stored)) return nullptr;
  const Lease& lease = *known->second.stored;
  return keys_.asked(lease.holder.owner, lease.path) == key ? &lease : nullptr;
}

// Neither held nor waited for when it was read, and not waited for now.
bool EtcdTransaction::is_stale(const std::string& key, const Asked& asked) const {
  const auto known = known_tickets_.find(asked.ticket.text);
  const bool waited = known != known_tickets_.end() && is_pending(known->second.stored);
  return !waited && !is_pending(tables_.ticket(asked.ticket)) && got(key, asked) == nullptr;
}

// One write instead of two; but what is over is read by all who read the owner, until it goes.
void EtcdTransaction::drop_owned(Changes& changes, const Lease& lease, const std::string& name) {
  const Owner& owner = lease.holder.owner;
  const std::string owner_area = keys_.of(owner);
  const std::string key = keys_.lease_of(owner, lease.id, lease.path, name).first;
  if (owned_.contains(owner_area) && !is_listed(owner_area, lease.id)) return;  // It was asked for.
  if (retired_.contains(owner_area) && !is_full_of_retired(owner_area)) {
    ++retired_[owner_area];
    changes.retire(key);
  } else {
    changes.erase(key);
    changes.guard(owner_area);
  }
}

// Most wait for one path, to have it alone. Where the owner was read it is known whether something else
// stands there.
void EtcdTransaction::write_wait(Changes& changes, const Ticket& ticket) {
  const Owner& owner = ticket.request->caller.holder.owner;
  const std::vector<WantedPath>& paths = ticket.request->paths;
  const bool is_simple =
      paths.size() == 1 && ticket.leases.size() == 1 && ticket.request->mode == Mode::exclusive;
  if (is_simple && loaded_.contains(keys_.of(owner))) {
    const std::string key = keys_.asked(owner, paths.front().path);
    const auto other = asked_.find(key);
    if (other == asked_.end() || is_stale(key, other->second)) {
      asked_[key] = {ticket.leases.front(), ticket.id};
      changes.put(key, ticket.leases.front().text + " " + ticket.id.text);
      return;
    }
  }
  changes.put(keys_.wait_of(owner, ticket.id), {});
}

// As it was read there, or as its owner's key says.
std::string EtcdTransaction::place_at(const std::string& path, const Ticket& ticket) const {
  const Owner& owner = ticket.request->caller.holder.owner;
  std::string by_owner = keys_.wait_at(path, owner);
  const auto wait = waits_at_.find({path, ticket.id});
  const auto asked = asked_.find(keys_.asked(owner, path));
  const bool is_by_owner = wait != waits_at_.end()
                               ? wait->second.key == by_owner
                               : asked != asked_.end() && asked->second.ticket == ticket.id;
  return is_by_owner ? by_owner : keys_.ticket_at(path, ticket.id);
}

void EtcdTransaction::drop_wait(Changes& changes, const Ticket& ticket) {
  const Owner& owner = ticket.request->caller.holder.owner;
  const std::vector<WantedPath>& paths = ticket.request->paths;
  if (paths.size() == 1 && ticket.leases.size() == 1 &&
      is_asked(owner, paths.front().path, ticket.leases.front()))
    return;  // That goes when it is found to be stale.
  changes.erase(keys_.wait_of(owner, ticket.id));
  changes.guard(keys_.of(owner));
}

// What an owner asked for and has no more goes with something else that is written. Who read it finds the
// same without it, so no guard is needed; that nobody writes it meanwhile is for the basis to see to. And who
// holds much of what it waited for has that listed as if it had not: all that it asked for is looked at each
// time.
void EtcdTransaction::tidy(Changes& changes) {
  std::size_t most = kTidiedMost;
  std::map<std::string, std::size_t> held;  // By owner's area.
  for (const auto& [key, asked] : asked_) {
    const std::string owner_area = key.substr(0, key.find('\0'));
    if (most == 0 || !basis_.has(area(owner_area))) continue;
    if (const Lease* lease = got(key, asked)) {
      const KnownLease& known = known_leases_.at(lease->id.text);
      if (known.is_changed || ++held[owner_area] <= kAskedMost) continue;
      auto [owned, value] = keys_.lease_of(lease->holder.owner, lease->id, lease->path, known.name);
      changes.put(owned, std::move(value));
    } else if (!is_stale(key, asked)) {
      continue;
    }
    changes.erase(key);
    --most;
  }
}

void EtcdTransaction::write_lease(Changes& changes, const LeaseId& id) {
  const KnownLease& known = known_leases_[id.text];
  const std::optional<Lease>& before = known.stored;
  std::optional<Lease> after = tables_.lease(id);
  const bool was = is_active(before);
  const bool is = is_active(after);
  const std::string key = keys_.id(id);
  // The body may not have meant to change what it was shown.
  if (was && is && after->expires_at == known.shown_expiry) after->expires_at = before->expires_at;

  if (was) {
    basis_.add(area(keys_.at(before->path)));  // Changes with each of its leases.
    // But not when etcd ends one: what it ended is neither renewed nor released.
    if (known.presence != 0) basis_.add_fleeting(keys_.presence(before->path, known.name), known.presence);
  } else if (known.is_new) {
    basis_.add(key, 0);
  } else if (before && after) {
    basis_.add(key, known.mod_revision);
  }

  const bool same_place = stays(id);
  const bool was_waited_for = is && before && before->status == Status::pending &&
                              before->path == after->path &&
                              is_pending(known_tickets_[before->group_id.text].stored) &&
                              !is_pending(tables_.ticket(before->group_id));
  const std::string name = same_place || !is ? known.name : free_name(after->path, id);
  if (!after) {
    changes.erase(key);
  } else if (!is) {
    changes.put(key, to_json(*after));
  } else if (!same_place && !was_waited_for) {
    changes.put(key, "@" + after->path);  // Who waited is looked for there anyway.
  }

  if (was && !same_place) {
    changes.retire(keys_.lease_at(before->path, known.name));
    // Nobody looks at the presence of what is over; etcd drops it, or the next one takes its place.
    if (!ends_by_etcd(*before)) changes.erase(keys_.presence(before->path, known.name));
  }
  if (is) {
    changes.put(keys_.lease_at(after->path, name), to_json(*after));
    if (!same_place || before->expires_at != after->expires_at)
      changes.put(keys_.presence(after->path, name), {}, attached_to(*after));
  }

  const bool same_owner = was && is && before->holder.owner == after->holder.owner;
  if (was && !same_owner) drop_owned(changes, *before, known.name);
  const bool says_so_already = was_waited_for && is_asked(after->holder.owner, after->path, id);
  if (is && (!same_owner || !same_place) && !says_so_already) {
    auto [owned, value] = keys_.lease_of(after->holder.owner, id, after->path, name);
    changes.put(owned, std::move(value));
  }

  const auto last = [&](const Lease& lease) {
    return Keys::member(keys_.last(lease.holder.owner, lease.path), 'i', id.text);
  };
  const std::string last_before = before ? last(*before) : std::string();
  const std::string last_after = after ? last(*after) : std::string();
  if (last_before == last_after) return;
  if (before) changes.erase(last_before);
  if (after) {
    const auto place = std::ranges::find(changed_leases_, id);
    changes.put(last_after, std::to_string(place - changed_leases_.begin()));
  }
}

void EtcdTransaction::write_ticket(Changes& changes, const GroupId& id) {
  const KnownTicket& known = known_tickets_[id.text];
  const std::optional<Ticket>& before = known.stored;
  const std::optional<Ticket> after = tables_.ticket(id);
  const std::string key = keys_.ticket(id);
  if (known.is_new) {
    basis_.add(key, 0);
  } else if (before && after && known.revisions.record != 0) {
    basis_.add(key, known.revisions.record);
    basis_.add(keys_.end_of(id), known.revisions.end);
  }
  const bool only_ended = before && after && ends_as_it_waited(*before, *after);
  const std::string text = after && !only_ended ? to_json(*after) : std::string();
  if (only_ended) {
    changes.put(keys_.end_of(id), ends_[id.text] = end_to_json(*after));
  } else {
    if (after) changes.put(key, text);
    if (!after) changes.erase(key);
    if (known.revisions.end != 0) changes.erase(keys_.end_of(id));
    ends_.erase(id.text);
  }

  const bool waits_on = is_pending(before) && is_pending(after) &&
                        before->request->caller.holder.owner == after->request->caller.holder.owner;
  if (is_pending(before) && !waits_on) drop_wait(changes, *before);
  if (is_pending(after) && !waits_on) write_wait(changes, *after);
  std::map<std::string, std::string> left;  // Keys, and of which path.
  if (is_pending(before)) {
    for (const WantedPath& wanted : before->request->paths)
      left.emplace(place_at(wanted.path, *before), wanted.path);
  }
  if (is_pending(after)) {
    // Most wait for one path; then whoever looks there needs not look further. Where there are several, each
    // of its places is written too, so that who looked there is told of the change.
    const bool is_simple = after->request->paths.size() == 1;
    for (const WantedPath& wanted : after->request->paths) {
      const std::string place = place_at(wanted.path, *after);
      left.erase(place);
      changes.put(place, is_simple ? text : std::string());
    }
  }
  for (const auto& [place, path] : left) {
    changes.erase(place);
    changes.guard(keys_.at(path));
  }
}

}  // namespace leasehold::etcd
