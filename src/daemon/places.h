// Where the daemon's files are.
#pragma once

#include <string>

#include "leasehold/result.h"

namespace leasehold::daemon {

// Tokens belong to the user, not to a project: XDG_CONFIG_HOME/leasehold/tokens.json, or the file that
// LEASE_TOKENS names. Error: config_error.
Result<std::string> token_file();

// Where the daemon remembers what it knows of a store (StoreMemory): below STATE_DIRECTORY, as systemd names
// it, or XDG_STATE_HOME. Error: config_error.
Result<std::string> memory_file(const std::string& store_url);

// Where a daemon on an embedded store listens unless told otherwise: in the store's folder. For other stores
// in XDG_RUNTIME_DIR.
std::string default_socket(const std::string& store_url);

}  // namespace leasehold::daemon
