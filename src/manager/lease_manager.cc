#include "manager/lease_manager.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/acquire.h"
#include "engine/check.h"
#include "engine/convert.h"
#include "engine/ledger.h"
#include "engine/live.h"
#include "engine/records_at.h"
#include "engine/release.h"
#include "engine/renew.h"
#include "engine/selection.h"
#include "engine/survey.h"
#include "engine/transfer.h"
#include "engine/turn.h"
#include "engine/validate.h"
#include "model/scope.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSweepBatch = 1'000;
constexpr Duration kKeepEnded = 1h;

bool overlaps_any(const std::vector<Scope>& scopes, const Scope& scope) {
  return scopes.empty() ||
         std::ranges::any_of(scopes, [&](const Scope& one) { return overlaps(one, scope); });
}

Footprint giving_back(Footprint footprint) {
  footprint.gives_back = true;
  return footprint;
}

}  // namespace

LeaseManager::LeaseManager(Environment environment, Store& store, std::string workspace, Policy policy)
    : environment_(environment), store_(store), workspace_(std::move(workspace)), policy_(policy) {}

// Runs a decision. If it asked about processes that nobody looked at yet, its writes are dropped, the
// answers are found outside the transaction, and it runs again.
template <class Answer, class Begin, class Decide>
Result<Answer> LeaseManager::run(const Begin& begin, const Caller* caller, const Decide& decide) {
  Verdicts verdicts;
  if (caller != nullptr && caller->holder.process) {
    verdicts.learn(*caller->holder.process, {Liveness::alive, "it is asking"});
  }
  const Context context{policy_, verdicts, environment_.random};
  for (;;) {
    std::optional<Result<Answer>> answer;
    std::set<Process> questions;
    const Result<void> done = begin([&](auto& transaction) -> Result<void> {
      answer = decide(transaction, context);
      questions = verdicts.take_questions();
      if (!questions.empty()) return fail(Code::unavailable, "looking at processes first");
      if (!*answer) return fail(answer->error());
      return {};
    });
    if (questions.empty()) {
      if (!done) return fail(done.error());
      return std::move(*answer);
    }
    for (const Process& process : questions) verdicts.learn(process, environment_.liveness.look_at(process));
  }
}

template <class Answer, class Decide>
Result<Answer> LeaseManager::change(const Footprint& footprint, const Caller* caller, const Decide& decide) {
  return run<Answer>([&](const Store::Body& body) { return store_.transact(footprint, body); }, caller,
                     decide);
}

template <class Answer, class Decide>
Result<Answer> LeaseManager::look(const Footprint& footprint, const Decide& decide, const Caller* caller) {
  return run<Answer>([&](const Store::Look& body) { return store_.view(footprint, body); }, caller, decide);
}

GroupId LeaseManager::new_group() { return {make_uuid(environment_.random)}; }

Result<AcquireAnswer> LeaseManager::acquire(const AcquireRequest& request) {
  return acquire(request, new_group());
}

std::optional<AcquireAnswer> LeaseManager::refused_by_room(const AcquireRequest& request) const {
  if (request.room.empty() || !rooms_.is_busy(request.room)) return std::nullopt;
  return AcquireAnswer{
      Refused{Code::busy,
              fmt::format("The room {} is busy. Try again when it is free.", in_quotes(request.room)),
              {}},
      {}};
}

Result<AcquireAnswer> LeaseManager::acquire(const AcquireRequest& request, const GroupId& group) {
  if (auto refused = refused_by_room(request)) return std::move(*refused);
  return change<AcquireAnswer>(footprint_of(workspace_, request), &request.caller,
                               [&](Transaction& transaction, const Context& context) {
                                 return leasehold::acquire(transaction, context, workspace_, request, group);
                               });
}

Result<AcquireAnswer> LeaseManager::poll(const Caller& caller, const GroupId& ticket) {
  const Footprint footprint = {.workspace = workspace_, .owners = {caller.holder.owner}, .tickets = {ticket}};
  // Most often the bell rang for a grant, and to see that nobody has to wait for a turn at writing.
  auto granted = look<std::optional<Granted>>(
      footprint,
      [&](View& view, const Context& context) -> Result<std::optional<Granted>> {
        return granted_meanwhile(view, context, caller, ticket);
      },
      &caller);
  if (granted && *granted) return AcquireAnswer{std::move(**granted), {}};
  return change<AcquireAnswer>(footprint, &caller, [&](Transaction& transaction, const Context& context) {
    return leasehold::poll(transaction, context, caller, ticket);
  });
}

Result<void> LeaseManager::cancel(const Caller& caller, const GroupId& ticket) {
  const Footprint footprint = {.workspace = workspace_, .tickets = {ticket}, .gives_back = true};
  const auto done = change<bool>(footprint, &caller, [&](Transaction& transaction, const Context& context) {
    const Result<void> cancelled = leasehold::cancel(transaction, context, caller, ticket);
    return cancelled ? Result<bool>(true) : fail(cancelled.error());
  });
  if (!done) return fail(done.error());
  return {};
}

Result<AcquireAnswer> LeaseManager::upgrade(const AcquireRequest& request) {
  if (auto refused = refused_by_room(request)) return std::move(*refused);
  const GroupId group = new_group();
  return change<AcquireAnswer>(footprint_of(workspace_, request), &request.caller,
                               [&](Transaction& transaction, const Context& context) {
                                 return leasehold::upgrade(transaction, context, workspace_, request, group);
                               });
}

Result<Outcomes> LeaseManager::downgrade(const ReleaseRequest& request) {
  return change<Outcomes>(giving_back(footprint_of(workspace_, request.caller.holder.owner, request.which)),
                          &request.caller, [&](Transaction& transaction, const Context& context) {
                            return leasehold::downgrade(transaction, context, request);
                          });
}

Result<Outcomes> LeaseManager::renew(const RenewRequest& request) {
  return change<Outcomes>(footprint_of(workspace_, request.caller.holder.owner, request.which),
                          &request.caller, [&](Transaction& transaction, const Context& context) {
                            return leasehold::renew(transaction, context, request);
                          });
}

Result<Outcomes> LeaseManager::release(const ReleaseRequest& request) {
  return change<Outcomes>(giving_back(footprint_of(workspace_, request.caller.holder.owner, request.which)),
                          &request.caller, [&](Transaction& transaction, const Context& context) {
                            return leasehold::release(transaction, context, request);
                          });
}

Result<Outcomes> LeaseManager::transfer(const TransferRequest& request) {
  Footprint footprint = footprint_of(workspace_, request.caller.holder.owner, request.which);
  footprint.owners.push_back(request.to.owner);
  return change<Outcomes>(footprint, &request.caller, [&](Transaction& transaction, const Context& context) {
    return leasehold::transfer(transaction, context, request);
  });
}

Result<Outcomes> LeaseManager::force_release(const ForceReleaseRequest& request) {
  return change<Outcomes>(giving_back(footprint_of(workspace_, {}, request.which)), nullptr,
                          [&](Transaction& transaction, const Context& context) {
                            return leasehold::force_release(transaction, context, request);
                          });
}

Result<CheckAnswer> LeaseManager::check(const Caller& caller, const std::string& path, Token token) {
  const Footprint footprint = {
      .workspace = workspace_, .scopes = {{path, false}}, .owners = {caller.holder.owner}};
  bool has_notices = false;
  auto answer = look<CheckAnswer>(footprint, [&](View& view, const Context& context) {
    has_notices = !view.notices(caller.holder.owner).empty();
    return leasehold::check(view, context, caller.holder.owner, path, token);
  });
  if (!answer || !has_notices) return answer;
  // Only now is there something to write: a notice is handed over once.
  auto notices = change<std::vector<Notice>>(
      {.workspace = workspace_, .owners = {caller.holder.owner}}, nullptr,
      [&](Transaction& transaction, const Context&) -> Result<std::vector<Notice>> {
        return take_notices(transaction, caller.holder.owner);
      });
  if (notices) answer->notices = std::move(*notices);
  return answer;
}

Result<std::size_t> LeaseManager::turn_started(const Owner& owner) {
  return change<std::size_t>({.workspace = workspace_, .owners = {owner}}, nullptr,
                             [&](Transaction& transaction, const Context& context) {
                               return leasehold::turn_started(transaction, context, owner);
                             });
}

Result<std::size_t> LeaseManager::turn_stopped(const Owner& owner) {
  return change<std::size_t>({.workspace = workspace_, .owners = {owner}}, nullptr,
                             [&](Transaction& transaction, const Context& context) {
                               return leasehold::turn_stopped(transaction, context, owner);
                             });
}

Result<Swept> LeaseManager::sweep(bool dead_owners) {
  Swept total;
  for (bool more = true; more;) {
    const auto swept = change<Swept>({.workspace = workspace_, .gives_back = true}, nullptr,
                                     [&](Transaction& transaction, const Context& context) -> Result<Swept> {
                                       return leasehold::sweep(transaction, context, kSweepBatch);
                                     });
    if (!swept) return swept;
    total.ended += swept->ended;
    total.dropped += swept->dropped;
    more = swept->more;
  }
  if (!dead_owners) return total;
  const auto dead = change<Swept>({.workspace = workspace_, .gives_back = true}, nullptr,
                                  [&](Transaction& transaction, const Context& context) -> Result<Swept> {
                                    return leasehold::sweep_dead(transaction, context);
                                  });
  if (!dead) return dead;
  total.ended += dead->ended;
  total.dropped += dead->dropped;
  return total;
}

Result<std::size_t> LeaseManager::forget(Duration history_life) {
  return change<std::size_t>({.workspace = workspace_, .gives_back = true}, nullptr,
                             [&](Transaction& transaction, const Context&) -> Result<std::size_t> {
                               return transaction.forget(transaction.now() - kKeepEnded,
                                                         transaction.wall() - history_life, kSweepBatch);
                             });
}

Result<Board> LeaseManager::board(const std::vector<std::string>& paths) {
  if (auto checked = check_count(paths.size(), policy_); !checked) return fail(checked.error());
  std::vector<Scope> scopes;
  for (const std::string& path : paths) {
    if (auto checked = check_key(path); !checked) return fail(checked.error());
    scopes.push_back({path, is_path(path)});
  }
  const Footprint footprint = {.workspace = workspace_, .scopes = scopes};
  return look<Board>(footprint, [&](View& view, const Context& context) -> Result<Board> {
    Board board = {.now = view.now(), .wall = view.wall()};
    const auto add = [&](const Lease& lease, bool live) {
      board.rows.push_back({lease, verdict_on(lease.holder, context), live});
    };
    for (const Lease& lease : by_path(scopes.empty() ? view.leases({}) : leases_at(view, scopes))) {
      add(lease, lapse(lease, view.now(), context) == EndCause::none);
    }
    std::vector<Ticket> tickets = scopes.empty() ? view.tickets({}) : tickets_at(view, scopes);
    for (const Ticket& ticket : in_order(view, context, std::move(tickets))) {
      const bool live = lapse(ticket, view.now(), context) == EndCause::none;
      for (const LeaseId& id : ticket.leases) {
        const std::optional<Lease> lease = view.lease(id);
        if (lease && overlaps_any(scopes, lease->scope())) add(*lease, live);
      }
    }
    std::ranges::stable_sort(board.rows, {}, [](const BoardRow& row) { return row.lease.path; });
    return board;
  });
}

Result<std::vector<Event>> LeaseManager::history(const HistoryQuery& query) {
  if (query.path) {
    if (auto checked = check_key(*query.path); !checked) return fail(checked.error());
  }
  return look<std::vector<Event>>(
      {.workspace = workspace_},
      [&](View& view, const Context&) -> Result<std::vector<Event>> { return view.history(query); });
}

}  // namespace leasehold
