// Answers read back from JSON, for the client at the other end. A store's moments are told by people's
// clocks: here Time counts from 1970, and `at` of a document is now. What JSON leaves out has its default.
#pragma once

#include <boost/json/value.hpp>
#include <vector>

#include "leasehold/client.h"
#include "wire/moment.h"

namespace leasehold {

// Total: any value gives an answer or invalid_argument.
Result<AcquireAnswer> acquire_answer_from(const boost::json::value& value);
Result<Outcomes> outcomes_from(const boost::json::value& value);
Result<CheckAnswer> check_answer_from(const boost::json::value& value);
Result<Lease> lease_from(const boost::json::value& value);
Result<Board> board_from(const boost::json::value& value);
Result<std::vector<Event>> events_from(const boost::json::value& value);
Result<GateAnswer> gate_answer_from(const boost::json::value& value);
Result<Blockers> blockers_from(const boost::json::value& value);
Result<Contention> contention_from(const boost::json::value& value);
Result<SessionPaths> session_paths_from(const boost::json::value& value);
Result<Swept> swept_from(const boost::json::value& value);

}  // namespace leasehold
