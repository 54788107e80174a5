// Answers as lines of the log. Nothing is made of them when nobody listens.
#pragma once

#include <string_view>

#include "leasehold/calls.h"
#include "leasehold/gate.h"
#include "leasehold/log.h"
#include "leasehold/result.h"

namespace leasehold {

// `trace`: of the request; a lease's own where the call has none.
void log_acquire(const LogSink& sink, const AcquireRequest& request, const Result<AcquireAnswer>& answer);
// What was granted or denied there; who may write what it holds already changes nothing.
void log_gate(const LogSink& sink, const AcquireRequest& wanted, const Result<GateAnswer>& answer);
void log_instruct(const LogSink& sink, const InstructRequest& request, const Result<Contention>& answer);
void log_poll(const LogSink& sink, const Caller& caller, const Result<AcquireAnswer>& answer);

// One line for each lease, or one for all with `batch`. `event` is what those did that succeeded. A call that
// failed as a whole has one line, with what it was about.
void log_outcomes(const LogSink& sink, std::string_view event, const Caller& caller, const Selection& which,
                  const Result<Outcomes>& answer, bool batch = false);

void log_swept(const LogSink& sink, const Swept& swept);

}  // namespace leasehold
