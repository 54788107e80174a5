// What a body changed, as one transaction of etcd's.
#include <fmt/format.h>

#include "store/etcd/failure.h"
#include "store/etcd/transaction.h"

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

// Half of what etcd takes, so that as many operations find their place.
std::size_t compares_max(int ops_max) { return static_cast<std::size_t>(ops_max) / 2 - 1; }

}  // namespace

bool EtcdTransaction::has_changes() const {
  return !changed_leases_.empty() || !changed_tickets_.empty() || !changed_values_.empty() ||
         !events_.empty() || !bells_.empty() || !trimmed_.empty();
}

bool EtcdTransaction::commit() {
  if (!has_changes()) return true;
  Changes changes;
  for (const LeaseId& id : changed_leases_) write_lease(changes, id);
  for (const GroupId& id : changed_tickets_) write_ticket(changes, id);
  write_others(changes);
  if (!execute(changes)) {
    for (const LeaseId& id : changed_leases_) {
      if (known_leases_[id.text].is_new) leftover_.leases.push_back(id);
    }
    for (const GroupId& id : changed_tickets_) {
      if (known_tickets_[id.text].is_new) leftover_.tickets.push_back(id);
    }
    return false;
  }
  remember();
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
  for (const std::string& area : changed_areas_) changes.guard(area);
  if (shared_.options.clock == nullptr)
    changes.put(stamp_key(shared_.prefix()), std::to_string(wall_.time_since_epoch().count()));
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

  write_events(changes, slot.key.substr(slot.key.find("/request/") + 9) + "-" + slot.request);
  std::int64_t guard_lease = 0;
  if (!bells_.empty() || changes.needs_guards()) guard_lease = shared_.leases.borrow(kGuardLife, kGuardSlack);
  for (const GroupId& ticket : bells_)
    changes.put(bell_key(shared_.prefix(), ticket), slot.request, guard_lease);

  std::vector<pb::RequestOp> ops = changes.ops(guard_lease);
  ops.push_back(write_name(slot, slot.request));
  std::vector<pb::Compare> compares = basis_.compares(revision_, compares_max(shared_.options.max_txn_ops));
  compares.push_back(unchanged(slot));
  pb::TxnRequest request =
      transaction_of(std::move(compares), std::move(ops),
                     static_cast<std::size_t>(shared_.options.max_txn_ops), shared_.cluster->address());
  *request.add_failure() = read_back(slot);

  const std::chrono::nanoseconds sent = since_boot();
  std::optional<pb::TxnResponse> response;
  try {
    response = shared_.cluster->write(request);
  } catch (const LeaseGone&) {
    shared_.leases.drop_all();
    return false;
  }
  if (response && response->succeeded()) {
    slot.mod_revision = response->header().revision();
  } else if (response) {
    const pb::RangeResponse& found = response->responses(0).response_range();
    slot.mod_revision = found.kvs_size() == 0 ? 0 : found.kvs(0).mod_revision();
    return false;
  } else if (!shared_.requests.was_made(slot)) {
    return false;
  }
  committed_ = slot.mod_revision;
  shared_.freshness.note({.revision = committed_, .at = sent});
  return true;
}

void EtcdTransaction::remember() {
  for (const LeaseId& id : changed_leases_) {
    if (const auto lease = tables_.lease(id)) shared_.hints.note(keys_.of(lease->holder.owner), *lease);
  }
  for (const GroupId& id : changed_tickets_) {
    if (const auto ticket = tables_.ticket(id)) shared_.hints.note(*ticket);
  }
}

}  // namespace leasehold::etcd
