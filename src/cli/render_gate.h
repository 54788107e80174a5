// The gate's answers as JSON. docs/formats/contention.schema.json describes what stands in the way.
#pragma once

#include <boost/json/object.hpp>

#include "cli/call.h"
#include "leasehold/gate.h"

namespace leasehold {

boost::json::object gate_json(const GateAnswer& answer);
boost::json::object contention_json(const Contention& contention, const Moment& at);
boost::json::object blockers_json(const Blockers& blockers);

}  // namespace leasehold
