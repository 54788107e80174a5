// For operators: what became of workers that the gate halted, and what they are to do.
#pragma once

#include <string>

#include "engine/context.h"
#include "leasehold/gate.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold {

Blockers blockers(View& view, const Context& context);

// Instructs a halted worker, which learns it by its next call at the gate. With force and transfer it has the
// lease when this returns; `group` is its label. Returns what was decided about.
//
// Errors: not_found (no such blocker), invalid_argument (no reason), limit_exceeded (of the worker).
Result<Contention> instruct(Transaction& transaction, const Context& context, const std::string& workspace,
                            const InstructRequest& request, const GroupId& group);

}  // namespace leasehold
