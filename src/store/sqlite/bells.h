// Bells across processes: one named pipe for each ticket somebody listens to.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace leasehold::sqlite {

// `folder` exists. A ticket's id is part of a file name. Errors: invalid_argument, unavailable.
Result<std::unique_ptr<Bell>> listen_in(const std::string& folder, const GroupId& ticket);

// Heard by whoever listens now; what nobody listens to any more is removed.
void ring_in(const std::string& folder, const GroupId& ticket);

// Removes what killed listeners left behind, rung or not.
void clear_in(const std::string& folder);

}  // namespace leasehold::sqlite
