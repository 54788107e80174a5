#include "engine/gate.h"

#include <algorithm>

#include "engine/contention.h"
#include "engine/explain_gate.h"
#include "engine/grant.h"
#include "engine/ledger.h"
#include "engine/limits.h"
#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/records_at.h"
#include "engine/validate.h"
#include "model/mode.h"
#include "model/scope.h"
#include "util/unique.h"

namespace leasehold {
namespace {

Result<CheckedRequest> check(const GateRequest& request, const Policy& policy) {
  if (request.wanted.wait) {
    return fail(Code::invalid_argument,
                "The gate does not queue. To wait for a file, use lease acquire --wait.");
  }
  return check_request(request.wanted, policy);
}

// The caller's live leases that give it what it asks for at `wanted`.
std::vector<Lease> own_cover(View& view, const Context& context, const AcquireRequest& request,
                             const WantedPath& wanted) {
  std::vector<Lease> own;
  for (Lease& lease : by_path(view.leases_at(wanted.scope()))) {
    const bool is_own = owns(request.caller, lease.holder.owner);
    if (!is_own || !suffices(lease.mode, request.mode) || !covers(lease.scope(), wanted.scope())) continue;
    if (lapse(lease, view.now(), context) == EndCause::none) own.push_back(std::move(lease));
  }
  return own;
}

// Nothing if there is a path the caller holds nothing for.
std::optional<std::vector<Lease>> own_cover(View& view, const Context& context,
                                            const AcquireRequest& request) {
  std::vector<Lease> all;
  for (const WantedPath& wanted : request.paths) {
    std::vector<Lease> own = own_cover(view, context, request, wanted);
    if (own.empty()) return std::nullopt;
    for (Lease& lease : own) {
      if (!contains(all, lease.id, &Lease::id)) all.push_back(std::move(lease));
    }
  }
  return all;
}

// Whether writing a file is a reason to write to the store: once in half a term, and when a turn begins.
bool wants_refresh(const Lease& lease, const AcquireRequest& request, Time now) {
  return lease.expires_at - now <= lease.ttl / 2 || lease.idle_at || (request.attended && !lease.attended);
}

void refresh(Ledger& ledger, const AcquireRequest& request, Lease& lease) {
  if (!wants_refresh(lease, request, ledger.now())) return;
  take_process(lease.holder, request.caller.holder);
  lease.attended |= request.attended;
  lease.idle_at.reset();
  lease.last_heartbeat_at = ledger.now();
  lease.expires_at = std::max(lease.expires_at, end_of_term(lease, ledger.now()));
  ledger.extend(lease, "written");
}

GateAnswer answer(View& view, std::variant<Allowed, Denied> decision, std::vector<Notice> notices = {}) {
  return {std::move(decision), view.now(), view.wall(), std::move(notices)};
}

// Others who are about to write matter to a reader; who only wait do not yet.
GateAnswer read(View& view, const Context& context, AcquireRequest request) {
  request.mode = Mode::shared;
  std::vector<Blocked> blocked = survey(view, context, request).blocked;
  std::erase_if(blocked, [](const Blocked& one) { return one.waits; });
  if (blocked.empty()) return answer(view, Allowed{});
  std::string message = explain_unreadable(blocked, view.now());
  return answer(view,
                Denied{.code = Code::busy, .message = std::move(message), .blocked = std::move(blocked)});
}

// Somebody else has had the path since. The wall clock may have been set in between: only what the lease's
// own last line comes before counts.
bool changed_hands(View& view, const AcquireRequest& request, const Notice& notice) {
  const std::vector<Event> end = view.history({.path = notice.path, .lease_id = notice.lease_id, .limit = 1});
  const std::uint64_t after = end.empty() ? 0 : end.front().sequence;
  return std::ranges::any_of(view.history({.path = notice.path, .after = after}), [&](const Event& event) {
    return event.type == EventType::acquired && event.at >= notice.at && !owns(request.caller, event.owner);
  });
}

// A lease that went behind the caller's back and took the ground from under its write: an operator wanted it
// so, or somebody else may have written meanwhile. One that just ran out is granted again without a word.
bool took_ground(View& view, const AcquireRequest& request, const Survey& found, const Notice& notice) {
  if (notice.received) return false;
  const Scope gone = {notice.path, true};
  bool concerned = false;
  for (std::size_t i = 0; i < request.paths.size(); ++i) {
    concerned |= !found.places[i].held && covers(gone, request.paths[i].scope());
  }
  if (!concerned) return false;
  return notice.cause == EndCause::forced || notice.cause == EndCause::transferred ||
         notice.cause == EndCause::recalled || changed_hands(view, request, notice);
}

std::optional<Denied> deny_for_loss(View& view, const AcquireRequest& request, const Survey& found,
                                    const std::vector<Notice>& notices) {
  const auto lost = std::ranges::find_if(
      notices, [&](const Notice& notice) { return took_ground(view, request, found, notice); });
  if (lost == notices.end()) return std::nullopt;
  const Code code = lost->cause == EndCause::transferred ? Code::transferred : Code::lost;
  return Denied{.code = code, .message = explain_loss(*lost, view.now()), .blocked = found.blocked};
}

}  // namespace

Result<std::optional<GateAnswer>> gate_at_a_glance(View& view, const Context& context,
                                                   const GateRequest& asked) {
  const auto checked = check(asked, context.policy);
  if (!checked) return fail(checked.error());
  const AcquireRequest& request = checked->request;
  if (asked.read) return read(view, context, request);
  const Owner& owner = request.caller.holder.owner;
  if (!view.notices(owner).empty()) return std::nullopt;
  std::optional<std::vector<Lease>> own = own_cover(view, context, request);
  if (!own) return std::nullopt;
  const auto has_more_to_do = [&](const Lease& lease) { return wants_refresh(lease, request, view.now()); };
  if (std::ranges::any_of(*own, has_more_to_do)) return std::nullopt;
  return answer(view, Allowed{.leases = std::move(*own)});
}

Result<GateAnswer> gate(Transaction& transaction, const Context& context, const std::string& workspace,
                        const GateRequest& asked, const GroupId& group) {
  const auto checked = check(asked, context.policy);
  if (!checked) return fail(checked.error());
  const AcquireRequest& request = checked->request;
  if (asked.read) return read(transaction, context, request);

  Ledger ledger(transaction, context);
  Survey found = survey_and_record(ledger, request);
  std::vector<Notice> notices = take_notices(transaction, request.caller.holder.owner);
  if (auto denied = deny_for_loss(transaction, request, found, notices)) {
    return answer(transaction, std::move(*denied), std::move(notices));
  }
  if (auto own = own_cover(transaction, context, request)) {
    for (Lease& lease : *own) refresh(ledger, request, lease);
    clear_contentions(transaction, request);
    return answer(transaction, Allowed{.leases = std::move(*own)}, std::move(notices));
  }
  if (auto denied = deny_again(transaction, request, found)) {
    return answer(transaction, std::move(*denied), std::move(notices));
  }
  if (!found.blocked.empty()) {
    return answer(transaction, deny(ledger, request, std::move(found)), std::move(notices));
  }
  if (auto within = check_limits(ledger, request, found); !within) return fail(within.error());
  Allowed allowed = {.leases = give_at_once(ledger, workspace, request, group, found), .granted = true};
  settle(ledger);
  if (found.same_owner_waits) refetch(transaction, allowed.leases);
  return answer(transaction, std::move(allowed), std::move(notices));
}

}  // namespace leasehold
