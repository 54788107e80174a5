// The gate's sentences: for agents that read them and do as they are told, so they are short and say what
// next.
#pragma once

#include <span>
#include <string>

#include "leasehold/gate.h"

namespace leasehold {

std::string explain_denied(const Denied& denied, Time now);
std::string explain_unreadable(std::span<const Blocked> blocked, Time now);
std::string explain_loss(const Notice& notice, Time now);

// Of a blocker: "first denied 6m ago, retried 3m ago, interval 3m".
std::string describe_denials(const Contention& contention, Time now);

// For history: all of it, since what the gate remembers goes with the blocker.
std::string explain_contention(const Contention& contention, Time now);

}  // namespace leasehold
