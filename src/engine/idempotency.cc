#include "engine/idempotency.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/grant.h"
#include "engine/live.h"
#include "model/mode.h"
#include "util/stable_hash.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

// Who asks is part of the key; where from (host, process) and why (reason, trace) may change between two
// tries of one request, as may the order of its paths and what pairing finds for them. Stored: never change
// what goes in.
std::string hash_of(const AcquireRequest& request) {
  std::set<std::string> scopes;
  for (const WantedPath& wanted : request.paths) {
    if (wanted.requested) scopes.insert((wanted.subtree ? "+" : "-") + wanted.path);
  }
  std::string paths;
  for (const std::string& scope : scopes) paths += scope + '\0';
  return stable_hash({paths, word(request.mode), std::to_string(request.ttl->count()),
                      std::to_string(*request.max_renewals),
                      std::to_string(request.wait.value_or(Duration::zero()).count()),
                      std::to_string(request.priority), request.room, request.caller.holder.pr_id});
}

// The grant ended so long ago that its key is free again.
bool is_forgotten(Transaction& transaction, const Context& context, const Answer& answer) {
  const Time now = transaction.now();
  if (answer.leases.empty()) return now >= answer.drop_at;
  return std::ranges::all_of(answer.leases, [&](const LeaseId& id) {
    const std::optional<Lease> lease = transaction.lease(id);
    if (!lease) return true;
    const bool active = lease->status == Status::active;
    if (active && lapse(*lease, now, context) == EndCause::none) return false;
    // It was over when its time was, if that has an end at all.
    const Time ended_at = active ? std::min(lease->expires_at, now) : lease->updated_at;
    return now >= ended_at + context.policy.answer_life;
  });
}

}  // namespace

std::optional<Granted> live_grant(View& view, const Context& context, const GroupId& group, Mode mode,
                                  const std::vector<LeaseId>& ids) {
  Granted granted = {.group_id = group};
  for (const LeaseId& id : ids) {
    std::optional<Lease> lease = view.lease(id);
    if (!lease || lease->status != Status::active || !suffices(lease->mode, mode)) return std::nullopt;
    if (lapse(*lease, view.now(), context) != EndCause::none) return std::nullopt;
    granted.leases.push_back(std::move(*lease));
  }
  return granted;
}

Result<std::optional<Earlier>> find_earlier(Ledger& ledger, const AcquireRequest& request) {
  if (request.idempotency_key.empty()) return std::nullopt;
  Transaction& transaction = ledger.transaction();
  const auto answer = transaction.answer(request.caller.holder.owner, request.idempotency_key);
  if (!answer) return std::nullopt;

  const std::optional<Ticket> ticket = transaction.ticket(answer->group_id);
  const bool waits = ticket && ticket->status == Status::pending;
  const bool timed_out = waits && ledger.now() >= ticket->wait_until;
  if (timed_out) ledger.fail(*ticket, EndCause::timed_out);
  if (timed_out || (ticket && ticket->status == Status::failed)) return std::nullopt;  // It got nothing.
  if (is_forgotten(transaction, ledger.context(), *answer)) return std::nullopt;
  if (answer->request_hash != hash_of(request)) {
    return fail(Code::invalid_argument,
                fmt::format("The idempotency key {} was used for another request. Use a new key.",
                            in_quotes(request.idempotency_key)));
  }
  if (waits) return Earlier{.waits = ticket, .ttl_clamped = answer->ttl_clamped};

  collect(ledger, answer->leases);
  auto granted = live_grant(transaction, ledger.context(), answer->group_id, request.mode, answer->leases);
  if (!granted || granted->leases.empty()) {
    return fail(Code::lost,
                fmt::format("What was granted under the idempotency key {} is over, at least in part. Ask "
                            "again with a new key.",
                            in_quotes(request.idempotency_key)));
  }
  return Earlier{.granted = std::move(granted), .ttl_clamped = answer->ttl_clamped};
}

void remember_grant(Transaction& transaction, const AcquireRequest& request,
                    const std::vector<LeaseId>& leases) {
  if (request.idempotency_key.empty()) return;
  std::optional<Answer> answer = transaction.answer(request.caller.holder.owner, request.idempotency_key);
  if (!answer) return;
  answer->leases = leases;
  transaction.put(*answer);
}

void remember(Transaction& transaction, const Context& context, const AcquireRequest& request,
              bool ttl_clamped, const Decision& decision) {
  if (request.idempotency_key.empty() || std::holds_alternative<Refused>(decision)) return;
  // It stays as long as its leases do, and so as long as one that has no end.
  const Time end = end_of_term(*request.ttl, transaction.now());
  Answer answer = {.owner = request.caller.holder.owner,
                   .key = request.idempotency_key,
                   .request_hash = hash_of(request),
                   .ttl_clamped = ttl_clamped,
                   .drop_at = (end == kForever ? transaction.now() : end) + context.policy.answer_life};
  if (const auto* granted = std::get_if<Granted>(&decision)) {
    answer.group_id = granted->group_id;
    for (const Lease& lease : granted->leases) answer.leases.push_back(lease.id);
  } else {
    const Queued& waiting = std::get<Queued>(decision);
    answer.group_id = waiting.ticket;
    answer.drop_at += *request.wait;
  }
  transaction.put(answer);
}

}  // namespace leasehold
