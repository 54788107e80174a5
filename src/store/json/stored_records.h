// Whole records as JSON text, for stores that keep values and not columns. Stored: a name never changes its
// meaning, and whatever has its default is left out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/lease.h"
#include "store/records.h"

namespace leasehold {

std::string to_json(const Lease& lease);
std::string to_json(const Ticket& ticket);
// Only what changes when a request ends that waited; and back, into what it was while it did. False: that is
// no such end.
std::string end_to_json(const Ticket& ticket);
bool add_end(std::string_view json, Ticket& ticket);
std::string to_json(const Answer& answer);
std::string to_json(const Notice& notice);
std::string to_json(const Setting& setting);
std::string to_json(const Event& event);  // Without the sequence: that is the store's.

// Nothing: `json` is not what to_json() makes.
template <class Record>
std::optional<Record> record_from_json(std::string_view json);
template <>
std::optional<Lease> record_from_json(std::string_view json);
template <>
std::optional<Ticket> record_from_json(std::string_view json);
template <>
std::optional<Answer> record_from_json(std::string_view json);
template <>
std::optional<Notice> record_from_json(std::string_view json);
template <>
std::optional<Event> record_from_json(std::string_view json);
template <>
std::optional<Setting> record_from_json(std::string_view json);

// All who hold one path. On top stand the names other programs look for: `agentId`, `prId`, `timestamp` and
// `ttl` (milliseconds) of the first holder. `leases` are JSON texts, at least one.
std::string path_document(const Lease& first, const std::vector<std::string>& leases);
std::optional<std::vector<Lease>> leases_from_document(std::string_view json);

}  // namespace leasehold
