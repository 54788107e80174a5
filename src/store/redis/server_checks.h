#pragma once

#include <string>
#include <vector>

#include "leasehold/result.h"
#include "store/redis/connection.h"

namespace leasehold::redis {

// What about the server endangers leases, one sentence each.
// Errors: config_error (a server this cannot work with), unavailable.
Result<std::vector<std::string>> check_server(Connection& connection);

// Memory that nobody needs, on a server with a limit: when that is reached it refuses every transaction, also
// one that gives back. Then this goes first. False: it cannot be had, or was not there.
bool keep_spare(Connection& connection);
bool drop_spare(Connection& connection);

}  // namespace leasehold::redis
