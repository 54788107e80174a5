// What `acquire`, `upgrade` and `run` have in common: a request for paths, which may have to wait.
#pragma once

#include "cli/call.h"

namespace leasehold {

// The options that acquire_request() reads; those of `run` have --keep as well.
std::span<const OptionSpec> acquire_options();
std::span<const OptionSpec> run_options();

// What the arguments ask for. Opens the workspace; if it `begins` something, makes its store where there is
// none. Errors: those of the workspace, and then those of an acquire.
Result<AcquireRequest> acquire_request(Call& call, bool begins = true);

// Asks for it, or waits for it. Whoever is interrupted or terminated while it waits gives its place up first.
Result<AcquireAnswer> acquire(Call& call, const AcquireRequest& request);
// For somebody who looks on meanwhile.
std::string waiting_for(Client& client, const AcquireRequest& request);
// What the call brought, of all that was granted: what its owner had before is not.
std::vector<LeaseId> brought_by(const Granted& granted);

// answer(); and if that cannot be written, nobody knows of what was granted, and it is given back. What was
// held before stays as it was. Under an idempotency key it stays, too: asking again tells it.
Result<int> answer_or_give_back(Call& call, const AcquireRequest& request, const AcquireAnswer& answer);

Result<AcquireAnswer> upgrade(Call& call, const AcquireRequest& request);

}  // namespace leasehold
