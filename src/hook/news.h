// What a model is told of notices: what happened to its leases behind its back.
#pragma once

#include <string>

#include "leasehold/gate.h"

namespace leasehold {

// What is to be passed on of an answer's notices, as one text; empty: nothing is. What is lost is told by the
// refusal of the write it matters to; that a subagent stopped or goes on, both know.
std::string news(const GateAnswer& answer);

}  // namespace leasehold
