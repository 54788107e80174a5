#include "engine/gate.h"

#include <algorithm>
#include <iterator>
#include <utility>

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
#include "model/notice_text.h"
#include "model/scope.h"
#include "util/unique.h"

namespace leasehold {
namespace {

Result<CheckedRequest> check(const GateRequest& request, const Policy& policy) {
  if (request.telling == Telling::only) {
    if (!request.wanted.paths.empty())
      return fail(Code::invalid_argument, "Who only wants to be told what there is names no path.");
    if (auto checked = check_holder(request.wanted.caller.holder); !checked) return fail(checked.error());
    return CheckedRequest{.request = request.wanted};
  }
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

// A test that came with its source is asked for by name when it is written: it does not go with the source
// any more.
bool is_named_now(const Lease& lease, const AcquireRequest& request) {
  return !lease.requested && std::ranges::any_of(request.paths, [&](const WantedPath& wanted) {
    return wanted.requested && wanted.scope() == lease.scope();
  });
}

// What was handed over may hang on no process: it is to hang on that of its owner at work.
bool lacks_process(const Lease& lease, const AcquireRequest& request) {
  const Holder& caller = request.caller.holder;
  return request.attended && caller.process && !lease.holder.process && lease.holder.owner == caller.owner;
}

// Whether writing a file is a reason to write to the store: once in half a term, and when a turn begins.
bool wants_refresh(const Lease& lease, const AcquireRequest& request, Time now) {
  const bool is_half_over = lease.expires_at != kForever && lease.expires_at - now <= lease.ttl / 2;
  return is_half_over || lease.idle_at || (request.attended && !lease.attended) ||
         lacks_process(lease, request) || is_named_now(lease, request);
}

void refresh(Ledger& ledger, const AcquireRequest& request, Lease& lease) {
  if (!wants_refresh(lease, request, ledger.now())) return;
  succeed_process(lease, request.caller.holder, request.attended, ledger.context());
  lease.requested |= is_named_now(lease, request);
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

// Whether a notice tells of a lease that is gone and covered `wanted`.
bool concerns(const Notice& notice, const WantedPath& wanted, Time now) {
  return is_loss(notice, now) && covers(notice.scope(), wanted.scope());
}

// A loss that this request has nothing to do with is kept for the write it matters to.
bool is_loss_elsewhere(const AcquireRequest& request, const Notice& notice, Time now) {
  return is_loss(notice, now) && std::ranges::none_of(request.paths, [&](const WantedPath& wanted) {
           return concerns(notice, wanted, now);
         });
}

// What the caller is told now. Whoever cannot pass it on is shown it, but for losses: they may deny.
std::vector<Notice> tell(Transaction& transaction, const GateRequest& asked, const AcquireRequest& request) {
  const Time now = transaction.now();
  const Owner& owner = request.caller.holder.owner;
  const bool keeps = asked.telling == Telling::kept;
  std::vector<Notice> told = take_notices(transaction, owner, [&](const Notice& notice) {
    return !is_loss_elsewhere(request, notice, now) && (!keeps || is_loss(notice, now));
  });
  if (!keeps) return told;
  std::ranges::move(
      show_notices(transaction, owner, [&](const Notice& notice) { return !is_loss(notice, now); }),
      std::back_inserter(told));
  return told;
}

// Somebody else has had the path, or a subtree above it, since. The wall clock may have been set in between:
// only what the lease's own last line comes before counts. Without history nobody can tell.
bool changed_hands(View& view, const Context& context, const AcquireRequest& request, const Notice& notice,
                   const std::string& path) {
  if (!context.policy.keep_history) return true;
  const std::vector<Event> end = view.history({.path = notice.path, .lease_id = notice.lease_id, .limit = 1});
  const std::uint64_t after = end.empty() ? 0 : end.front().sequence;
  std::vector<std::string> places = ancestors(path);
  places.push_back(path);
  return std::ranges::any_of(places, [&](const std::string& place) {
    return std::ranges::any_of(view.history({.path = place, .after = after}), [&](const Event& event) {
      return event.type == EventType::acquired && event.at >= notice.at &&
             !owns(request.caller, event.owner) && (place == path || event.subtree);
    });
  });
}

// A lease that went behind the caller's back and took the ground from under its write: an operator wanted it
// so, or somebody else may have written meanwhile. One that just ran out is granted again without a word.
bool took_ground(View& view, const Context& context, const AcquireRequest& request, const Survey& found,
                 const Notice& notice) {
  const bool was_taken = notice.cause == EndCause::forced || notice.cause == EndCause::transferred ||
                         notice.cause == EndCause::recalled;
  for (std::size_t i = 0; i < request.paths.size(); ++i) {
    const WantedPath& wanted = request.paths[i];
    if (found.places[i].held || !concerns(notice, wanted, view.now())) continue;
    if (was_taken || changed_hands(view, context, request, notice, wanted.path)) return true;
  }
  return false;
}

// What pairing added is not in the way of a write to what the caller holds, if it cannot be had; nor is what
// the caller was told to leave alone. True: some of it was left out.
bool leave_out_pairs(View& view, AcquireRequest& request, const Survey& found) {
  bool holds_what_it_named = true;
  for (std::size_t i = 0; i < request.paths.size(); ++i) {
    holds_what_it_named &= !request.paths[i].requested || found.places[i].held;
  }
  const auto is_left_out = [&](const WantedPath& wanted) {
    if (wanted.requested) return false;
    const auto known = view.contention(request.caller.holder.owner, wanted.path);
    if (known && known->state == ContentionState::abandoned) return true;
    return holds_what_it_named && (known || contains(found.blocked, wanted.path, &Blocked::path));
  };
  return std::erase_if(request.paths, is_left_out) > 0;
}

std::optional<Denied> deny_for_loss(View& view, const Context& context, const AcquireRequest& request,
                                    const Survey& found, const std::vector<Notice>& notices) {
  const auto lost = std::ranges::find_if(
      notices, [&](const Notice& notice) { return took_ground(view, context, request, found, notice); });
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
  const auto is_to_be_told = [&](const Notice& notice) {
    return !is_loss_elsewhere(request, notice, view.now());
  };
  if (std::ranges::any_of(view.notices(request.caller.holder.owner), is_to_be_told)) return std::nullopt;
  if (asked.telling == Telling::only) return answer(view, Allowed{});
  std::optional<std::vector<Lease>> own = own_cover(view, context, request);
  if (!own || is_abandoned(view, request)) return std::nullopt;
  const auto has_more_to_do = [&](const Lease& lease) { return wants_refresh(lease, request, view.now()); };
  if (std::ranges::any_of(*own, has_more_to_do)) return std::nullopt;
  return answer(view, Allowed{.leases = std::move(*own)});
}

Result<GateAnswer> gate(Transaction& transaction, const Context& context, const std::string& workspace,
                        const GateRequest& asked, const GroupId& group) {
  const auto checked = check(asked, context.policy);
  if (!checked) return fail(checked.error());
  AcquireRequest request = checked->request;
  if (asked.read) return read(transaction, context, request);

  if (asked.telling == Telling::only)
    return answer(transaction, Allowed{}, tell(transaction, asked, request));

  Ledger ledger(transaction, context);
  Survey found = survey_and_record(ledger, request);
  if (std::ranges::none_of(request.paths, &WantedPath::requested)) {
    if (found.blocked.empty()) return answer(transaction, Allowed{});
    return answer(transaction, note_past(ledger, request, std::move(found)));
  }
  if (leave_out_pairs(transaction, request, found)) found = survey(transaction, context, request);
  std::vector<Notice> notices = tell(transaction, asked, request);
  if (auto denied = deny_for_loss(transaction, context, request, found, notices)) {
    // It tells of one. The others are told by the writes after this one.
    bool is_told = false;
    std::erase_if(notices, [&](const Notice& notice) {
      if (!took_ground(transaction, context, request, found, notice) || !std::exchange(is_told, true))
        return false;
      transaction.put(notice);
      return true;
    });
    return answer(transaction, std::move(*denied), std::move(notices));
  }
  if (is_abandoned(transaction, request)) {
    if (auto denied = deny_again(transaction, request, found))
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
