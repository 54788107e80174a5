// What leasehold/open.h has, for callers that found the workspace of `place` before.
#pragma once

#include <memory>

#include "leasehold/open.h"
#include "workspace/workspace.h"

namespace leasehold {

bool lets_unchecked_writes_pass(const OpenOptions& options, const Workspace& workspace);

Result<std::unique_ptr<OpenWorkspace>> open_workspace(const OpenOptions& options, Workspace workspace);

}  // namespace leasehold
