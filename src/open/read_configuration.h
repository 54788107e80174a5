#pragma once

#include <memory>

#include "config/configuration.h"
#include "leasehold/open.h"
#include "workspace/workspace.h"

namespace leasehold {

// The settings of a workspace: those given, the environment's, its own file's and the user's. Errors:
// config_error, invalid_argument.
Result<std::unique_ptr<Configuration>> read_configuration(const OpenOptions& options,
                                                          const Workspace& workspace);

// The embedded store of the workspace, unless the settings name another (`url`).
Result<std::string> complete_url(const OpenOptions& options, const Workspace& workspace,
                                 const std::string& url);

}  // namespace leasehold
