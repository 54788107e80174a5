#pragma once

#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace leasehold::simulation {

// Bugs that lock services are known to have had, put in on purpose: a checker that does not find
// them proves nothing when it finds nothing. They live in wrappers around the product, in bugs.cc,
// and one in the client.
enum class PlantedBug {
  none,
  release_without_token_check,  // A token is not looked at.
  release_without_owner_check,  // Whoever holds it, it is released.
  no_recheck_after_wait,        // A woken waiter takes its leases without looking.
  notify_before_commit,         // Waiters are woken, look, and see the old state.
  renewal_resurrects,           // A renewal that came too late brings the lease back.
  expiry_by_wall_clock,         // Setting the clock ends leases.
  token_from_volatile_counter,  // Tokens start again when the service does.
  subset_granted_on_cancel,     // A cancelled wait leaves what was free in the caller's hands.
  waiter_stranded_by_expiry,    // A lease is ended without a look at who waits for it.
  answers_not_kept,             // Asking again under the same key is a new request.
  queue_not_respected,          // A new request passes those who wait.
  torn_commit,                  // One of the leases of a grant does not reach the store.
  dead_hold_on,                 // The dead are taken for living.
  gate_forgets_its_retry,       // Each denial at the gate is the first.
  leases_not_counted,           // An owner may hold what it likes.
};

struct PlantedBugName {
  PlantedBug bug;
  std::string name;
  std::set<std::string> breaks;  // Invariants, any of which may be the first to show it.
};

inline void PrintTo(const PlantedBugName& bug, std::ostream* out) { *out << bug.name; }

// All but `none`.
const std::vector<PlantedBugName>& planted_bugs();

}  // namespace leasehold::simulation
