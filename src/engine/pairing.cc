#include "engine/pairing.h"

#include <algorithm>

#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/records_at.h"
#include "util/unique.h"

namespace leasehold {
namespace {

// Those of the owner, and of its session: one who acts for all of it may have added to another's lease.
std::vector<Lease> live_leases_on(View& view, const Context& context, const Owner& owner,
                                  const std::string& path) {
  std::vector<Lease> leases = leases_on(view, path);
  std::erase_if(leases, [&](const Lease& lease) {
    const Owner& holder = lease.holder.owner;
    const bool same = holder == owner || (!owner.session_id.empty() && holder.session_id == owner.session_id);
    return !same || lapse(lease, view.now(), context) != EndCause::none;
  });
  return leases;
}

// Whether `pair` has, without `source`, another lease on the same path to go with: one of the pair's own
// owner, or, if it had been added to another agent's lease, of any in the session. One that is over may be
// held anew.
bool has_same_source(View& view, const Context& context, const Lease& pair, const Lease& source) {
  const Owner& owner = source.holder.owner;
  return std::ranges::any_of(live_leases_on(view, context, owner, source.path), [&](const Lease& other) {
    if (other.id == source.id) return false;
    if (pair.holder.owner == owner && other.holder.owner != owner) return false;
    return source.status != Status::active || contains(other.pairs, pair.path);
  });
}

// What of the caller's pairing added for `source`, with the sources that are left without it. One that ended
// without being released, or went to another owner, keeps nothing.
std::vector<Lease> pairs_without(View& view, const Context& context, const Caller& caller,
                                 const Lease& source) {
  const Owner& owner = source.holder.owner;
  std::vector<Lease> pairs;
  for (const std::string& path : source.pairs) {
    for (Lease& pair : live_leases_on(view, context, owner, path)) {
      if (!owns(caller, pair.holder.owner) || has_same_source(view, context, pair, source)) continue;
      if (std::erase(pair.paired_with, source.path) == 0) continue;
      std::erase_if(pair.paired_with, [&](const std::string& other) {
        return live_leases_on(view, context, owner, other).empty();
      });
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

bool is_kept(const Lease& pair) { return pair.requested || !pair.paired_with.empty(); }

}  // namespace

std::vector<Lease> only_paired_with(View& view, const Context& context, const Caller& caller,
                                    const Lease& source) {
  std::vector<Lease> orphans;
  for (const Lease& pair : pairs_without(view, context, caller, source)) {
    if (!is_kept(pair)) orphans.push_back(*view.lease(pair.id));
  }
  return orphans;
}

std::vector<Lease> live_pairs(View& view, const Context& context, const Lease& source) {
  const Owner& owner = source.holder.owner;
  std::vector<Lease> pairs;
  for (const std::string& path : source.pairs) {
    for (Lease& lease : live_leases_on(view, context, owner, path)) {
      if (lease.holder.owner == owner && contains(lease.paired_with, source.path))
        pairs.push_back(std::move(lease));
    }
  }
  return pairs;
}

std::vector<Lease> detach_pairs(Ledger& ledger, const Caller& caller, const Lease& source) {
  std::vector<Lease> pairs = pairs_without(ledger.transaction(), ledger.context(), caller, source);
  for (Lease& pair : pairs) ledger.amend(pair);
  std::erase_if(pairs, is_kept);
  return pairs;
}

Caller anybody_of_session(const Lease& source) { return {.holder = source.holder, .whole_session = true}; }

}  // namespace leasehold
