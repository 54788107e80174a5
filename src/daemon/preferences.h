// What a client would like, and does without if it must (RFC 7240): `Prefer: respond-async, wait=10`; and
// what it takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/lease.h"

namespace leasehold::daemon {

// The value of the first preference of that name; names are in lower case here, and in any there. Empty: it
// has none. Nothing: it is not there. What cannot be read is passed over.
std::optional<std::string> preference(std::string_view header, std::string_view name);

// `wait`, in whole seconds. Nothing: it is not there, makes no sense, or is no wait.
std::optional<Duration> preferred_wait(std::string_view header);

// Whether Accept names this type, which is in lower case here, and not only to rule it out (RFC
// 9110, 12.5.1).
bool accepts(std::string_view header, std::string_view type);

}  // namespace leasehold::daemon
