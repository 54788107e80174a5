#include "engine/pairing.h"

#include <algorithm>

#include "engine/live.h"
#include "engine/records_at.h"

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

// What pairing added for `source`, with the sources that are left without it. One that ended without
// being released, or went to another owner, keeps nothing.
std::vector<Lease> pairs_without(View& view, const Context& context, const Lease& source) {
  const Owner& owner = source.holder.owner;
  std::vector<Lease> pairs;
  // One that is over may be held anew, and the pairs with it.
  if (source.status != Status::active && !live_leases_on(view, context, owner, source.path).empty())
    return pairs;
  for (const std::string& path : source.pairs) {
    for (Lease& pair : live_leases_on(view, context, owner, path)) {
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

std::vector<Lease> only_paired_with(View& view, const Context& context, const Lease& source) {
  std::vector<Lease> orphans;
  for (const Lease& pair : pairs_without(view, context, source)) {
    if (!is_kept(pair)) orphans.push_back(*view.lease(pair.id));
  }
  return orphans;
}

std::vector<Lease> detach_pairs(Ledger& ledger, const Lease& source) {
  std::vector<Lease> pairs = pairs_without(ledger.transaction(), ledger.context(), source);
  for (Lease& pair : pairs) ledger.amend(pair);
  std::erase_if(pairs, is_kept);
  return pairs;
}

}  // namespace leasehold
