#pragma once

#include "engine/context.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold {

// Is this token still that of a live lease that covers the path? Asked at the write itself: a holder
// that slept past its time cannot write. Whose token it is does not matter; what became of it is told
// to its caller. Errors: those of check_owner() and check_key().
Result<CheckAnswer> check(View& view, const Context& context, const Caller& caller, const std::string& path,
                          Token token);

}  // namespace leasehold
