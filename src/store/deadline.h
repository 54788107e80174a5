// When somebody has to look at a record again; what every store keeps an index of.
#pragma once

#include <algorithm>

#include "store/records.h"

namespace leasehold {

inline Time earliest_deadline(const Lease& lease) {
  return std::min({lease.expires_at, lease.idle_at.value_or(kForever), lease.recalled_at.value_or(kForever)});
}

inline Time earliest_deadline(const Ticket& ticket) {
  return std::min(ticket.wait_until, ticket.proven_until);
}

}  // namespace leasehold
