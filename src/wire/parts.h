// Parts that requests and answers share. For the sources of this folder.
#pragma once

#include <boost/json/value.hpp>
#include <optional>

#include "leasehold/calls.h"
#include "wire/reader.h"

namespace leasehold::wire {

json::value process_json(const std::optional<Process>& process);
std::optional<Process> read_process(const Reader& reader, std::string_view name);

// agent_id, session_id, pr_id, host and process.
Holder read_holder(const Reader& reader);

}  // namespace leasehold::wire
