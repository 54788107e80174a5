#pragma once

#include <algorithm>

#include "leasehold/gate.h"

namespace leasehold {

// There is nothing to wait for: no time at which to try again, and no word of an operator.
inline bool is_final(const Denied& denied) {
  if (denied.code != Code::retry_later && denied.code != Code::halted) return true;
  return std::ranges::any_of(denied.contentions,
                             [](const Contention& one) { return one.state == ContentionState::abandoned; });
}

}  // namespace leasehold
