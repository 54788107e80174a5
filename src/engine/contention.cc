#include "engine/contention.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/explain.h"
#include "engine/explain_gate.h"
#include "util/unique.h"

namespace leasehold {
namespace {

// The one path, and what pairing added for it.
AcquireRequest only(const AcquireRequest& request, const std::string& path) {
  AcquireRequest part = request;
  part.idempotency_key.clear();
  std::erase_if(part.paths, [&](const WantedPath& wanted) {
    return wanted.path != path && !contains(wanted.paired_with, path);
  });
  return part;
}

bool is_over(const Contention& contention, Time now) { return contention.drop_at <= now; }

// It is time to look: the retry is due, or an operator said so.
bool may_look(const Contention& contention, Time now) {
  switch (contention.state) {
    case ContentionState::scheduled:
      return contention.retry_at <= now;
    case ContentionState::halted:
      return contention.may_retry;
    case ContentionState::abandoned:
      return false;
  }
  return false;
}

// Another process of the same worker may have come in its place; what is granted later is to be that one's.
Contention with_worker(Transaction& transaction, Contention contention, const Holder& worker) {
  Holder& known = contention.wanted.caller.holder;
  if (known.process == worker.process) return contention;
  take_process(known, worker);
  transaction.put(contention);
  return contention;
}

// A reason that was not given before tells of something new, which history has to have.
Contention with_reason(Transaction& transaction, Contention contention, const std::string& reason) {
  if (reason.empty() || reason == contention.wanted.reason) return contention;
  contention.wanted.reason = reason;
  transaction.put(contention);
  note(transaction, contention, EventType::contended,
       {{}, fmt::format("{}; held by {}", reason, describe(contention.in_the_way.holder))});
  return contention;
}

Code code_of(const std::vector<Contention>& contentions) {
  const bool only_scheduled = std::ranges::all_of(
      contentions, [](const Contention& one) { return one.state == ContentionState::scheduled; });
  return only_scheduled ? Code::retry_later : Code::halted;
}

Denied denied(std::vector<Contention> contentions, std::vector<Blocked> blocked, Time now) {
  Denied denied = {
      .code = code_of(contentions), .contentions = std::move(contentions), .blocked = std::move(blocked)};
  for (const Contention& one : denied.contentions) denied.retry_at = std::max(denied.retry_at, one.retry_at);
  denied.message = explain_denied(denied, now);
  denied.more_blocked = shorten(denied.blocked);
  return denied;
}

Contention first_denial(Ledger& ledger, const AcquireRequest& request, const Blocked& blocked) {
  const Policy& policy = ledger.context().policy;
  const Time retry_at = ledger.now() + policy.gate_retry;
  return {.id = make_uuid(ledger.context().random),
          .path = blocked.path,
          .wanted = only(request, blocked.path),
          .first_denied_at = ledger.now(),
          .retry_at = retry_at,
          .drop_at = retry_at + policy.contention_life};
}

}  // namespace

std::optional<Denied> deny_again(Transaction& transaction, const AcquireRequest& request,
                                 const Survey& found) {
  const Time now = transaction.now();
  std::vector<Contention> standing;
  for (const WantedPath& wanted : request.paths) {
    const auto known = transaction.contention(request.caller.holder.owner, wanted.path);
    if (!known) continue;
    if (is_over(*known, now)) {
      transaction.erase(*known);
    } else if (!may_look(*known, now)) {
      Contention one = with_worker(transaction, *known, request.caller.holder);
      standing.push_back(with_reason(transaction, std::move(one), request.reason));
    }
  }
  if (standing.empty()) return std::nullopt;
  return denied(std::move(standing), found.blocked, now);
}

bool is_abandoned(View& view, const AcquireRequest& request) {
  return std::ranges::any_of(request.paths, [&](const WantedPath& wanted) {
    const auto known = view.contention(request.caller.holder.owner, wanted.path);
    return known && known->state == ContentionState::abandoned && !is_over(*known, view.now());
  });
}

Denied deny(Ledger& ledger, const AcquireRequest& request, Survey found) {
  Transaction& transaction = ledger.transaction();
  const Time now = ledger.now();
  std::vector<Contention> contentions;
  for (const Blocked& blocked : found.blocked) {
    // Several may be in the way of one path; the first speaks for them.
    if (contains(contentions, blocked.path, &Contention::path)) continue;
    auto known = transaction.contention(request.caller.holder.owner, blocked.path);
    Contention contention = known ? std::move(*known) : first_denial(ledger, request, blocked);
    contention.in_the_way = blocked;
    take_process(contention.wanted.caller.holder, request.caller.holder);
    if (known) {
      contention.state = ContentionState::halted;
      contention.may_retry = false;
      contention.retried_at = now;
      contention.drop_at = now + ledger.context().policy.instruction_life;
    }
    transaction.put(contention);
    note(transaction, contention, known ? EventType::halted : EventType::contended,
         {{}, explain_contention(contention, now)});
    contentions.push_back(std::move(contention));
  }
  return denied(std::move(contentions), std::move(found.blocked), now);
}

Denied note_past(Ledger& ledger, const AcquireRequest& request, Survey found) {
  std::vector<std::string> noted;
  for (const Blocked& blocked : found.blocked) {
    if (contains(noted, blocked.path)) continue;
    noted.push_back(blocked.path);
    note(ledger.transaction(), first_denial(ledger, request, blocked), EventType::contended,
         {{}, fmt::format("{}; held by {}", request.reason, describe(blocked.holder))});
  }
  Denied denied = {.code = Code::busy,
                   .message = fmt::format("It was written all the same: {}.",
                                          describe(found.blocked.front(), ledger.now())),
                   .blocked = std::move(found.blocked)};
  denied.more_blocked = shorten(denied.blocked);
  return denied;
}

void clear_contentions(Transaction& transaction, const AcquireRequest& request) {
  for (const WantedPath& wanted : request.paths) {
    const auto known = transaction.contention(request.caller.holder.owner, wanted.path);
    if (known && known->state != ContentionState::abandoned) transaction.erase(*known);
  }
}

void note(Transaction& transaction, const Contention& contention, EventType type, const Because& because) {
  transaction.append({.type = type,
                      .owner = contention.owner(),
                      .pr_id = contention.wanted.caller.holder.pr_id,
                      .path = contention.path,
                      .mode = contention.wanted.mode,
                      .at = transaction.now(),
                      .wall = transaction.wall(),
                      .actor = because.actor,
                      .reason = because.reason,
                      .trace = contention.wanted.trace});
}

}  // namespace leasehold
