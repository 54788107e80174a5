#pragma once

#include <string>
#include <vector>

#include "leasehold/result.h"
#include "store/redis/connection.h"

namespace leasehold::redis {

// What about the server endangers leases, one sentence each.
// Errors: config_error (a server this cannot work with), unavailable.
Result<std::vector<std::string>> check_server(Connection& connection);

}  // namespace leasehold::redis
