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

// For history.
std::string explain_contention(const Contention& contention, Time now);

}  // namespace leasehold
