// One call may name only so many leases, and an owner may have more.
#pragma once

#include "leasehold/client.h"

namespace leasehold {

// Client::release and Client::renew, in as many calls as it takes to name all of which.ids; in one if they
// are named in another way. A call that fails as a whole is the last: what was named before it is done, and
// what comes after it is not.
Result<Outcomes> release_named(Client& client, ReleaseRequest request);
Result<Outcomes> renew_named(Client& client, RenewRequest request);

}  // namespace leasehold
