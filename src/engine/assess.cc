#include "engine/assess.h"

#include "engine/live.h"

namespace leasehold {

Assessment assess(Ledger& ledger, const Caller& caller, const Target& target,
                  const std::optional<Token>& token) {
  const std::optional<Lease>& lease = target.lease;
  const bool active = lease && lease->status == Status::active;
  const EndCause lapsed = active ? lapse(*lease, ledger.now(), ledger.context()) : EndCause::none;
  const Standing found = standing(caller, lease, lapsed, token);
  if (found == Standing::own_live) return {found, std::nullopt};
  if (active && found == Standing::own_ended) ledger.end(*lease, lapsed);
  return {found, refusal(found, target.name, lease, lapsed)};
}

}  // namespace leasehold
