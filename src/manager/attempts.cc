// One attempt at an acquire. Under the profile `session` a lock that could not be had is `busy`,
// `rate_limited` or `unavailable`, and nothing else.
#include <tuple>

#include "engine/acquire.h"
#include "manager/run.h"

namespace leasehold {
Footprint LeaseManager::footprint_to_acquire(const AcquireRequest& request) {
  Footprint footprint = footprint_of(workspace_, request);
  const std::string& session_id = request.caller.holder.owner.session_id;
  if (policy()->rate_limit > 0 && !session_id.empty()) footprint.sessions = {session_id};
  return footprint;
}

Result<AcquireAnswer> LeaseManager::attempt(const AcquireRequest& request, const GroupId& group,
                                            bool is_retry) {
  return change<AcquireAnswer>(
      footprint_to_acquire(request), &request.caller, [&](Transaction& transaction, const Context& context) {
        return leasehold::acquire(transaction, context, workspace_, request, group, is_retry);
      });
}

// The store did not do it; to whoever wanted a lock it is all the same why. If it may have done it after all,
// that is taken back, should the store hear of it.
Error LeaseManager::as_lock_error(const AcquireRequest& request, const GroupId& group, const Error& error) {
  const Code code = error.code;
  const bool is_the_stores = code == Code::transaction_conflict || code == Code::outcome_unknown ||
                             code == Code::corrupt || code == Code::config_error;
  if (!is_the_stores) return error;
  if (code == Code::outcome_unknown) std::ignore = take_back(request, group);
  return {Code::unavailable, error.message};
}

Result<bool> LeaseManager::take_back(const AcquireRequest& request, const GroupId& group) {
  Footprint footprint = footprint_of(workspace_, request);
  footprint.tickets = {group};
  return change<bool>(footprint, &request.caller,
                      [&](Transaction& transaction, const Context& context) -> Result<bool> {
                        leasehold::take_back(transaction, context, request, group);
                        return true;
                      });
}

}  // namespace leasehold
