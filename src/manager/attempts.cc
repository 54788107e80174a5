// One acquire call: as often as the profile says, as long as trying again may help. Under the profile
// `session` a lock that could not be had is `busy`, `rate_limited` or `unavailable`, and nothing else.
#include <fmt/format.h>

#include <thread>
#include <tuple>

#include "engine/acquire.h"
#include "manager/logging.h"
#include "manager/run.h"

namespace leasehold {
namespace {

bool may_help_to_try_again(const AcquireRequest& request, const Result<AcquireAnswer>& answer) {
  if (answer) {
    const auto* refused = std::get_if<Refused>(&answer->decision);
    return refused != nullptr && refused->code == Code::busy;
  }
  const Code code = answer.error().code;
  // Whoever may have got a place in the queue must not ask for another.
  if (code == Code::outcome_unknown) return !request.wait;
  return code == Code::unavailable || code == Code::transaction_conflict;
}

}  // namespace

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
  if (code != Code::transaction_conflict && code != Code::outcome_unknown && code != Code::corrupt)
    return error;
  if (code == Code::outcome_unknown) {
    std::ignore = change<bool>(footprint_of(workspace_, request), &request.caller,
                               [&](Transaction& transaction, const Context& context) -> Result<bool> {
                                 take_back(transaction, context, request, group);
                                 return true;
                               });
  }
  return {Code::unavailable, error.message};
}

Result<AcquireAnswer> LeaseManager::acquire(const AcquireRequest& request, const GroupId& group) {
  if (auto refused = refused_by_room(request)) return std::move(*refused);
  const std::shared_ptr<const Policy> policy = this->policy();
  bool counted = false;
  Result<AcquireAnswer> answer = attempt(request, group, counted);
  for (int tries = 1; tries < policy->attempts && may_help_to_try_again(request, answer); ++tries) {
    counted = counted || answer || answer.error().code == Code::outcome_unknown;
    std::this_thread::sleep_for(policy->attempt_pause);
    answer = attempt(request, group, counted);
  }
  if (!answer && policy->session_locks) answer = fail(as_lock_error(request, group, answer.error()));
  log_acquire(options_.log, request, answer);
  return answer;
}

}  // namespace leasehold
