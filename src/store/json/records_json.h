// Parts of records as JSON text, for stores that have no columns for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/gate.h"
#include "store/records.h"

namespace leasehold {

std::string to_json(const AcquireRequest& request);
std::string to_json(const Contention& contention);
std::string to_json(const SessionPath& path);  // Without the session.
std::string to_json(const RateWindow& window);
std::string to_json(const std::vector<std::string>& texts);

// Nothing: `json` is not what to_json() makes. Fields that are missing have their defaults.
std::optional<AcquireRequest> request_from_json(std::string_view json);
std::optional<Contention> contention_from_json(std::string_view json);
std::optional<SessionPath> session_path_from_json(std::string_view json);
std::optional<RateWindow> rate_window_from_json(std::string_view json);
std::optional<std::vector<std::string>> texts_from_json(std::string_view json);

}  // namespace leasehold
