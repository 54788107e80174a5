// Which modes go together.
#pragma once

#include "leasehold/lease.h"

namespace leasehold {

// Two owners may hold one path in these modes at once.
inline bool compatible(Mode a, Mode b) { return a == Mode::shared && b == Mode::shared; }

// Who holds a path in this mode has what it wants.
inline bool suffices(Mode held, Mode wanted) { return held == Mode::exclusive || wanted == Mode::shared; }

}  // namespace leasehold
