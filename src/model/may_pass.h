// Which bad answers a request that waits is not given up for.
#pragma once

#include "leasehold/error.h"

namespace leasehold {

// It waits still, as far as anybody knows, and looking again is safe.
inline bool may_pass(Code code) {
  return code == Code::unavailable || code == Code::transaction_conflict || code == Code::outcome_unknown;
}

}  // namespace leasehold
