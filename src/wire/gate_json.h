// The gate's answers as JSON. docs/formats/contention.schema.json describes what stands in the way.
#pragma once

#include <boost/json/object.hpp>

#include "leasehold/gate.h"
#include "wire/moment.h"

namespace leasehold {

// How much is told of a contention.
enum class Detail {
  summary,  // What people and agents need.
  all,      // Also what was wanted and who is in the way, so that a program has it whole.
};

boost::json::object gate_json(const GateAnswer& answer, Detail detail = Detail::summary);
boost::json::object contention_json(const Contention& contention, const Moment& at,
                                    Detail detail = Detail::summary);
boost::json::object blockers_json(const Blockers& blockers, Detail detail = Detail::summary);

}  // namespace leasehold
