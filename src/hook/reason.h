#pragma once

#include <string>

#include "leasehold/gate.h"

namespace leasehold {

// Why a write was denied, for a model that reads it and acts on it: who, since when, until when, when to try
// again, what to do instead. At most 400 bytes.
std::string short_reason(const GateAnswer& answer, const Denied& denied);

}  // namespace leasehold
