#include "engine/records_at.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

namespace leasehold {

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

// Many things may end in one place at once, so scopes repeat as well.
std::vector<Lease> leases_at(View& view, const std::vector<Scope>& scopes) {
  std::map<LeaseId, Lease> found;
  for (const Scope& scope : std::set(scopes.begin(), scopes.end())) {
    for (Lease& lease : view.leases_at(scope)) found.emplace(lease.id, std::move(lease));
  }
  std::vector<Lease> leases;
  leases.reserve(found.size());
  for (Lease& lease : found | std::views::values) leases.push_back(std::move(lease));
  return leases;
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
