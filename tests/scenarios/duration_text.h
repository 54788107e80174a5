#pragma once

#include "util/duration_text.h"

namespace leasehold::scenario {

inline std::string to_text(Duration duration) { return duration_text(duration); }

}  // namespace leasehold::scenario
