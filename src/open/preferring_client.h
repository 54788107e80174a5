// A client that asks a server as long as it answers, and the store itself from then on.
#pragma once

#include <functional>
#include <memory>

#include "leasehold/client.h"

namespace leasehold {

// `open` is called when the server is gone, until it has worked once. What waits is always asked of the
// store: a server that is restarted meanwhile must not end a wait. A call whose answer was lost is made
// again, which every call allows (outcome_unknown).
std::shared_ptr<Client> prefer_server(std::shared_ptr<Client> server,
                                      std::function<Result<std::shared_ptr<Client>>()> open);

}  // namespace leasehold
