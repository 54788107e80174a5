#include "engine/sessions.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/explain.h"
#include "engine/validate.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

SessionPath path_of(const Lease& lease) {
  return {.session_id = lease.holder.owner.session_id,
          .path = lease.path,
          .subtree = lease.subtree,
          .mode = lease.mode};
}

// Who takes a lease away, or hands it over, has a profile of its own: an operator, most often.
bool was_taken(const Lease& lease) {
  return lease.ended_by == EndCause::forced || lease.ended_by == EndCause::transferred;
}

// Another agent of the session may have the same path, shared.
bool is_held_by_a_mate(Transaction& transaction, const Lease& lease) {
  return std::ranges::any_of(transaction.leases_at({lease.path, false}), [&](const Lease& other) {
    return other.id != lease.id && other.scope() == lease.scope() &&
           other.holder.owner.session_id == lease.holder.owner.session_id;
  });
}

}  // namespace

std::optional<Refused> count_call(Transaction& transaction, const Policy& policy,
                                  const std::string& session_id) {
  if (policy.rate_limit == 0 || session_id.empty()) return std::nullopt;
  const Time now = transaction.now();
  const RateWindow fresh = {.session_id = session_id, .ends_at = now + policy.rate_window};
  RateWindow window = transaction.rate_window(session_id).value_or(fresh);
  // The limit may have been changed since; nobody waits longer than one window.
  const bool is_shortened = window.ends_at > fresh.ends_at;
  if (is_shortened) window.ends_at = fresh.ends_at;
  const bool is_within = window.calls < policy.rate_limit;
  if (is_within) ++window.calls;
  if (is_within || is_shortened) transaction.put(window);
  if (is_within) return std::nullopt;
  const auto left = std::chrono::ceil<Duration>(window.ends_at - now);
  // Told in whole seconds, and who waits for so long must not come too early.
  const Duration shown =
      left < std::chrono::seconds(1) ? left : std::chrono::ceil<std::chrono::seconds>(left);
  return Refused{
      .code = Code::rate_limited,
      .message = fmt::format("The session {} has asked {} times, and may {} times in {}. Ask again "
                             "in {}.",
                             in_sentence(session_id), window.calls, policy.rate_limit,
                             describe(policy.rate_window), describe(shown)),
      .retry_after = left};
}

void remember(Transaction& transaction, const Policy& policy, const Lease& lease) {
  if (lease.status == Status::released) give_up(transaction, policy, lease);
  if (lease.status != Status::active || !policy.session_locks || lease.holder.owner.session_id.empty())
    return;
  SessionPath path = path_of(lease);
  if (policy.session_life) path.drop_at = transaction.wall() + *policy.session_life;
  transaction.put(path);
}

void remember(Transaction& transaction, const Policy& policy, const Decision& told) {
  const auto* const granted = std::get_if<Granted>(&told);
  if (granted == nullptr) return;
  for (const Lease& lease : granted->leases) remember(transaction, policy, lease);
}

// Whoever gives back goes by its own profile: to forget what was never remembered would cost everybody.
void give_up(Transaction& transaction, const Policy& policy, const Lease& lease) {
  if (lease.holder.owner.session_id.empty() || !(policy.session_locks || was_taken(lease))) return;
  if (is_held_by_a_mate(transaction, lease)) return;
  transaction.erase(path_of(lease));
}

void give_up_all(Transaction& transaction, const std::string& session_id) {
  if (session_id.empty()) return;
  for (const SessionPath& path : transaction.session_paths(session_id).paths) transaction.erase(path);
}

Result<SessionPaths> session_paths(View& view, const std::string& session_id) {
  if (auto checked = check_session(session_id); !checked) return fail(checked.error());
  SessionPaths found = view.session_paths(session_id);
  const auto is_invalid = [&](const SessionPath& path) {
    const auto checked = check_key(path.path);
    if (!checked) found.invalid.push_back(checked.error().message);
    return !checked;
  };
  std::erase_if(found.paths, is_invalid);
  std::ranges::sort(found.paths, {}, &SessionPath::scope);
  return found;
}

}  // namespace leasehold
