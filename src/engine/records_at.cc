#include "engine/records_at.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace leasehold {
namespace {

// Many things may end in one place at once, so scopes repeat as well.
template <class Record, class Look>
std::vector<Record> each_once(const std::vector<Scope>& scopes, const Look& look) {
  std::map<decltype(Record::id), Record> found;
  for (const Scope& scope : std::set(scopes.begin(), scopes.end())) {
    for (Record& record : look(scope)) found.emplace(record.id, std::move(record));
  }
  std::vector<Record> records;
  records.reserve(found.size());
  for (auto& [id, record] : found) records.push_back(std::move(record));
  return records;
}

}  // namespace

std::vector<Lease*> order_by_path(std::vector<Lease>& leases) {
  std::vector<Lease*> order;
  order.reserve(leases.size());
  for (Lease& lease : leases) order.push_back(&lease);
  std::ranges::sort(order, {}, [](const Lease* lease) {
    return std::tie(lease->path, lease->subtree, lease->holder.owner, lease->token, lease->id);
  });
  return order;
}

std::vector<Lease> by_path(std::vector<Lease> leases) {
  std::vector<Lease> sorted;
  sorted.reserve(leases.size());
  for (Lease* lease : order_by_path(leases)) sorted.push_back(std::move(*lease));
  return sorted;
}

std::vector<Lease> leases_at(View& view, const std::vector<Scope>& scopes) {
  return each_once<Lease>(scopes, [&](const Scope& scope) { return view.leases_at(scope); });
}

std::vector<Ticket> tickets_at(View& view, const std::vector<Scope>& scopes) {
  return each_once<Ticket>(scopes, [&](const Scope& scope) { return view.tickets_at(scope); });
}

std::vector<Lease> leases_on(View& view, const std::string& path) {
  std::vector<Lease> leases = view.leases_at({path, false});
  std::erase_if(leases, [&](const Lease& lease) { return lease.path != path; });
  return by_path(std::move(leases));
}

std::vector<Lease> last_own_leases(View& view, const Caller& caller, const std::string& path) {
  const Owner& self = caller.holder.owner;
  std::vector<Lease> found;
  if (auto own = view.last_lease(self, path)) found.push_back(*std::move(own));
  if (!caller.whole_session || self.session_id.empty()) return found;
  auto of_session = view.last_lease_in(self.session_id, path);
  if (of_session && (found.empty() || found.front().id != of_session->id))
    found.push_back(*std::move(of_session));
  return found;
}

}  // namespace leasehold
