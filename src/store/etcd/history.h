// How events stand in etcd: two of one commit under one key (one lease ends and another begins, a file is had
// with its test), because each key of a commit costs as much as a thousand bytes do.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/lease.h"

namespace leasehold::etcd {

// As JSON, with a NUL between two.
std::string to_text(std::span<const Event> events);
// Nothing: one of them is no event, and then none of them counts.
std::optional<std::vector<Event>> events_from(std::string_view text);

}  // namespace leasehold::etcd
