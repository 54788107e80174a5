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

}  // namespace

bool EtcdTransaction::ends_by_etcd(const Lease& lease) const {
  return shared_.options.clock == nullptr && lease.expires_at != kForever;
}

// The lease of etcd's that the presence of `lease` is attached to; 0: none, it ends by the clock of the
// tests, or never.
std::int64_t EtcdTransaction::attached_to(const Lease& lease) {
  if (!ends_by_etcd(lease)) return 0;
  const auto left = std::chrono::ceil<std::chrono::seconds>(lease.expires_at - now_);
  const auto life = std::max<std::chrono::seconds>(left, 1s);
  return shared_.leases.borrow(life, std::clamp<std::chrono::seconds>(life / 10, kLeastSlack, kMostSlack));
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
  const std::string name = same_place || !is ? known.name : free_name(after->path, id);
  if (!after) {
    changes.erase(key);
  } else if (!is) {
    changes.put(key, to_json(*after));
  } else if (!same_place) {
    changes.put(key, "@" + after->path);
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
  if (was && !same_owner) {
    const std::string owned = keys_.lease_of(before->holder.owner, id, before->path, known.name).first;
    // One write instead of two; but what is over is read by all who read the owner, until it goes.
    const std::string owner_area = keys_.of(before->holder.owner);
    if (retired_.contains(owner_area) && !is_full_of_retired(owner_area)) {
      ++retired_[owner_area];
      changes.retire(owned);
    } else {
      changes.erase(owned);
      changes.guard(owner_area);
    }
  }
  if (is && (!same_owner || !same_place)) {
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
  } else if (before && after && known.mod_revision != 0) {
    basis_.add(key, known.mod_revision);
  }
  const std::string text = after ? to_json(*after) : std::string();
  if (after) {
    changes.put(key, text);
  } else {
    changes.erase(key);
  }

  std::set<std::string> left;
  if (is_pending(before)) {
    for (const WantedPath& wanted : before->request->paths) left.insert(wanted.path);
    const Owner& owner = before->request->caller.holder.owner;
    if (!is_pending(after) || after->request->caller.holder.owner != owner) {
      changes.erase(keys_.wait_of(owner, id));
      changes.guard(keys_.of(owner));
    }
  }
  if (is_pending(after)) {
    // Most wait for one path; then whoever looks there needs not look further. Where there are several, each
    // of its places is written too, so that who looked there is told of the change.
    const bool is_simple = after->request->paths.size() == 1;
    for (const WantedPath& wanted : after->request->paths) {
      left.erase(wanted.path);
      changes.put(keys_.ticket_at(wanted.path, id), is_simple ? text : std::string());
    }
    changes.put(keys_.wait_of(after->request->caller.holder.owner, id), {});
  }
  for (const std::string& path : left) {
    changes.erase(keys_.ticket_at(path, id));
    changes.guard(keys_.at(path));
  }
}

}  // namespace leasehold::etcd
