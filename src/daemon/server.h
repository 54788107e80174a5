// The daemon: listens, keeps connections, has routes answer, and looks after the store.
#pragma once

#include <memory>

#include "daemon/options.h"
#include "leasehold/result.h"

namespace leasehold::daemon {

// Serves until it is told to stop (SIGTERM, SIGINT), then answers what it has begun. Returns what to exit
// with. Errors: those of opening the store; config_error and unavailable of addresses, certificates and
// tokens.
Result<int> serve(const ServeOptions& options);

}  // namespace leasehold::daemon
