#pragma once

#include "engine/policy.h"
#include "engine/verdicts.h"
#include "util/random.h"

namespace leasehold {

// All a decision depends on besides the request and the store's view.
struct Context {
  const Policy& policy;
  const Verdicts& verdicts;
  Random& random;          // For ids.
  bool withholds = false;  // Who waits has to wait on, whatever becomes free.
};

}  // namespace leasehold
