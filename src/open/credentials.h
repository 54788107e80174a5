// LEASE_TOKEN and LEASE_TOKENS have two meanings each: around `lease run` they let a client in at a server
// and name the server's file of tokens; to the command that it runs they are fencing tokens, as `lease check
// --token` wants them. The two are told apart by their form. What they were around it stays known inside
// under a name of its own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/result.h"
#include "util/variables.h"

namespace leasehold {

// What lets a client in at a server: LEASE_TOKEN unless it is a fencing token, else LEASE_CREDENTIAL.
// Empty: none.
std::string credential(const Variables& environment);

// The same for a server that only a project's file names: whoever wrote that does not decide who gets the
// user's token. Empty: none, or none is needed. Error: config_error (there is one, and LEASE_TOKEN_FOR does
// not name this server).
Result<std::string> credential_for(const Variables& environment, std::string_view url,
                                   std::string_view project_file);

// The file that a server's tokens are kept in: LEASE_TOKENS unless it has fencing tokens, else
// LEASE_TOKEN_FILE. Empty: none is named.
std::string named_token_file(const Variables& environment);

// Both, as a command finds them whose LEASE_TOKEN and LEASE_TOKENS are fencing tokens.
std::vector<std::pair<std::string, std::string>> credentials_for_command(const Variables& environment);

}  // namespace leasehold
