#pragma once

#include "engine/ledger.h"
#include "engine/ownership.h"
#include "engine/selection.h"

namespace leasehold {

struct Assessment {
  Standing standing;
  std::optional<Error> error;  // Set for anything but own_live.
};

// Where a caller stands with a lease it named. If the lease turns out to be past its time, that is
// recorded on the way.
Assessment assess(Ledger& ledger, const Caller& caller, const Target& target,
                  const std::optional<Token>& token = std::nullopt);

}  // namespace leasehold
