// The engine's sentences for people: what happened, who is in the way, what to do next.
#pragma once

#include <span>
#include <string>

#include "leasehold/calls.h"

namespace leasehold {

std::string describe(EndCause cause);
std::string describe(const Holder& holder);
std::string describe(Duration duration);  // 5m, 1m30s, 250ms
std::string describe(const Blocked& blocked, Time now);

// A key as one argument of a shell command that can be pasted: file:/src/a.h, 'file:/my file.h', port:3000.
std::string as_argument(const std::string& key);

// Who is in the way of a request that was refused or has to wait.
std::string explain_blocked(std::span<const Blocked> blocked, Time now);

// What to type to wait for what was refused.
std::string next_command(const AcquireRequest& request);

}  // namespace leasehold
