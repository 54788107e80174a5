// Answers as responses: their status by the one table of codes, their body by wire/.
#pragma once

#include "daemon/message.h"
#include "leasehold/client.h"
#include "wire/moment.h"

namespace leasehold::daemon {

// `granted`: what a grant is answered with: 201 for a new one, 200 for what was asked about before.
Response render(const AcquireAnswer& answer, const Moment& at, int granted);
Response render(const Outcomes& outcomes, const Moment& at);
// One lease's outcome; an error is a problem.
Response render_one(const Outcomes& outcomes, const Moment& at);
Response render(const GateAnswer& answer);

}  // namespace leasehold::daemon
