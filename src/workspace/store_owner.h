// Whose store an embedded one is, and where none can be had.
#pragma once

#include <optional>
#include <string>

#include "workspace/workspace.h"

namespace leasehold {

// The workspace whose own store the folder is (see workspace_id_in): `workspace`, if it is that one's, or the
// one that it lies in. Nothing: nobody's.
std::optional<Workspace> owner_of_store(const std::string& store_folder, const Workspace& workspace);

// Its .git file leads nowhere, so its leases are in a repository that cannot be found; and nobody has said,
// by a store in the tree itself, that it is to be a plain folder.
bool has_lost_repository(const Workspace& workspace);

}  // namespace leasehold
