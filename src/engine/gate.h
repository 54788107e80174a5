// Decides at the write itself, by the contract of docs/gate.md:
//
//   held by its owner                     -> allowed
//   denied before: halted, or too early   -> denied, the same way
//   free                                  -> granted
//   held by another, the first time       -> denied; one retry at now + gate_retry
//   held by another, at the retry         -> halted, until instructed
//   held by another, and none of the paths is requested: it was written already
//                                         -> denied; history has it, and nothing else comes of it
#pragma once

#include <optional>
#include <string>

#include "engine/context.h"
#include "leasehold/gate.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold {

// What the gate answers without writing anything, as most often: the caller holds all of it, and has not got
// to be told anything. Else nothing: gate(). A read is always answered here.
Result<std::optional<GateAnswer>> gate_at_a_glance(View& view, const Context& context,
                                                   const GateRequest& request);

// `group` is the label of what is granted. Errors: those of check_request(), limit_exceeded.
Result<GateAnswer> gate(Transaction& transaction, const Context& context, const std::string& workspace,
                        const GateRequest& request, const GroupId& group);

}  // namespace leasehold
