#pragma once

#include <optional>

#include "leasehold/calls.h"
#include "store/records.h"

namespace leasehold {

// Does what belongs to `owner` count as the caller's own?
bool owns(const Caller& caller, const Owner& owner);
bool owns(const InLine& waiter, const Owner& owner);

// Where a caller stands with a lease it names.
enum class Standing {
  own_live,
  own_pending,  // Own, and still waited for.
  own_failed,   // Own, and waited for in vain: never held.
  own_ended,
  transferred,  // Own, and handed to somebody else.
  stale_token,  // Own and live, but the token is not the current one.
  not_owner,
  not_found,
};

// The one place that decides this. `lapsed` is what lapse() says of an active lease: one that is
// past its time has ended, whether or not anybody recorded it.
Standing standing(const Caller& caller, const std::optional<Lease>& lease, EndCause lapsed,
                  const std::optional<Token>& token);

// What a call that needs a live lease answers for anything but own_live.
// `name` is how the caller called it.
Error refusal(Standing standing, const std::string& name, const std::optional<Lease>& lease, EndCause lapsed);

}  // namespace leasehold
