// What a view has in one place, or in several.
#pragma once

#include <string>
#include <vector>

#include "leasehold/calls.h"
#include "store/store.h"

namespace leasehold {

// Leases in an order that an answer can have: by path, then by owner. That of a store is its own affair, and
// must not show.
std::vector<Lease> by_path(std::vector<Lease> leases);
// Where each of them is, in that order: a lease is large to move.
std::vector<Lease*> order_by_path(std::vector<Lease>& leases);

// Active leases that overlap any of the scopes; each once, in no particular order.
std::vector<Lease> leases_at(View& view, const std::vector<Scope>& scopes);

// Active leases on exactly this path, be it alone or with all below it; by_path().
std::vector<Lease> leases_on(View& view, const std::string& path);

// The newest lease on exactly this path that the caller holds or held; and if it acts for a whole session,
// the newest of that, if it is another.
std::vector<Lease> last_own_leases(View& view, const Caller& caller, const std::string& path);

}  // namespace leasehold
