#include "manager/lease_manager.h"

#include <fmt/format.h>

#include "engine/acquire.h"
#include "engine/check.h"
#include "engine/convert.h"
#include "engine/ledger.h"
#include "engine/release.h"
#include "engine/renew.h"
#include "engine/selection.h"
#include "engine/transfer.h"
#include "engine/turn.h"
#include "manager/logging.h"
#include "manager/run.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

Footprint giving_back(Footprint footprint) {
  footprint.gives_back = true;
  return footprint;
}

}  // namespace

LeaseManager::LeaseManager(Environment environment, Store& store, std::string workspace, Policy policy,
                           ManagerOptions options)
    : environment_(environment),
      store_(store),
      workspace_(std::move(workspace)),
      options_(std::move(options)),
      rooms_(options_.rooms ? options_.rooms : std::make_shared<Rooms>()),
      policy_(std::make_shared<const Policy>(policy)) {}

GroupId LeaseManager::new_group() { return {make_uuid(environment_.random)}; }

std::optional<AcquireAnswer> LeaseManager::refused_by_room(const AcquireRequest& request) const {
  if (request.room.empty() || !rooms_->is_busy(request.room)) return std::nullopt;
  AcquireAnswer answer = {
      Refused{Code::busy,
              fmt::format("The room {} is busy. Try again when it is free.", in_quotes(request.room)),
              {}},
      {}};
  log_acquire(options_.log, request, answer);
  return answer;
}

std::optional<AcquireAnswer> LeaseManager::glance(const Caller& caller, const GroupId& ticket) {
  if (policy()->session_locks) return std::nullopt;  // What is told is remembered, and that is written.
  auto granted = look<std::optional<Granted>>(
      {.workspace = workspace_, .owners = {caller.holder.owner}, .tickets = {ticket}},
      [&](View& view, const Context& context) -> Result<std::optional<Granted>> {
        return granted_meanwhile(view, context, caller, ticket);
      },
      &caller);
  if (!granted || !*granted) return std::nullopt;
  Result<AcquireAnswer> answer = AcquireAnswer{std::move(**granted), {}};
  log_poll(options_.log, caller, answer);
  return *std::move(answer);
}

bool LeaseManager::waits_on(const Caller& caller, const GroupId& ticket) {
  return change<bool>({.workspace = workspace_, .owners = {caller.holder.owner}, .tickets = {ticket}},
                      &caller,
                      [&](Transaction& transaction, const Context& context) {
                        return wait_on(transaction, context, caller, ticket);
                      })
      .value_or(false);
}

Result<AcquireAnswer> LeaseManager::poll(const Caller& caller, const GroupId& ticket) {
  // Most often the bell rang for a grant, and to see that nobody has to wait for a turn at writing.
  if (auto granted = glance(caller, ticket)) return *std::move(granted);
  auto answer =
      change<AcquireAnswer>({.workspace = workspace_, .owners = {caller.holder.owner}, .tickets = {ticket}},
                            &caller, [&](Transaction& transaction, const Context& context) {
                              return leasehold::poll(transaction, context, caller, ticket);
                            });
  log_poll(options_.log, caller, answer);
  return answer;
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
  auto answer = change<AcquireAnswer>(
      footprint_to_acquire(request), &request.caller, [&](Transaction& transaction, const Context& context) {
        return leasehold::upgrade(transaction, context, workspace_, request, group);
      });
  log_acquire(options_.log, request, answer);
  return answer;
}

Result<AcquireAnswer> LeaseManager::upgrade_one(const Caller& caller, const LeaseId& id,
                                                const std::optional<Token>& token) {
  const GroupId group = new_group();
  Footprint footprint = footprint_to_acquire({.caller = caller});
  footprint.leases = {id};
  auto answer =
      change<AcquireAnswer>(footprint, &caller, [&](Transaction& transaction, const Context& context) {
        return leasehold::upgrade_one(transaction, context, workspace_, caller, id, token, group);
      });
  log_acquire(options_.log, {.caller = caller}, answer);
  return answer;
}

Result<Outcomes> LeaseManager::downgrade(const ReleaseRequest& request) {
  auto answer =
      change<Outcomes>(giving_back(footprint_of(workspace_, request.caller.holder.owner, request.which)),
                       &request.caller, [&](Transaction& transaction, const Context& context) {
                         return leasehold::downgrade(transaction, context, request);
                       });
  log_outcomes(options_.log, "downgraded", request.caller, request.which, answer);
  return answer;
}

Result<Outcomes> LeaseManager::renew(const RenewRequest& request) {
  auto answer = change<Outcomes>(footprint_of(workspace_, request.caller.holder.owner, request.which),
                                 &request.caller, [&](Transaction& transaction, const Context& context) {
                                   return leasehold::renew(transaction, context, request);
                                 });
  log_outcomes(options_.log, "renewed", request.caller, request.which, answer, request.which.all);
  return answer;
}

Result<Outcomes> LeaseManager::release(const ReleaseRequest& request) {
  auto answer =
      change<Outcomes>(giving_back(footprint_of(workspace_, request.caller.holder.owner, request.which)),
                       &request.caller, [&](Transaction& transaction, const Context& context) {
                         return leasehold::release(transaction, context, request);
                       });
  log_outcomes(options_.log, "released", request.caller, request.which, answer);
  return answer;
}

Result<Outcomes> LeaseManager::transfer(const TransferRequest& request) {
  Footprint footprint = footprint_of(workspace_, request.caller.holder.owner, request.which);
  footprint.owners.push_back(request.to.owner);
  auto answer =
      change<Outcomes>(footprint, &request.caller, [&](Transaction& transaction, const Context& context) {
        return leasehold::transfer(transaction, context, request);
      });
  log_outcomes(options_.log, "transferred", request.caller, request.which, answer);
  return answer;
}

Result<Outcomes> LeaseManager::force_release(const ForceReleaseRequest& request) {
  auto answer = change<Outcomes>(giving_back(footprint_of(workspace_, {}, request.which)), nullptr,
                                 [&](Transaction& transaction, const Context& context) {
                                   return leasehold::force_release(transaction, context, request);
                                 });
  const Caller nobody;
  log_outcomes(options_.log, request.recall ? "recalled" : "released", nobody, request.which, answer);
  return answer;
}

Result<CheckAnswer> LeaseManager::look_at_token(const Caller& caller, const std::string& path, Token token,
                                                bool& has_notices) {
  const Footprint footprint = {
      .workspace = workspace_, .scopes = {{path, false}}, .owners = {caller.holder.owner}};
  return look<CheckAnswer>(footprint, [&](View& view, const Context& context) {
    has_notices = !view.notices(caller.holder.owner).empty();
    return leasehold::check(view, context, caller, path, token);
  });
}

Result<CheckAnswer> LeaseManager::peek(const Caller& caller, const std::string& path, Token token) {
  bool ignored = false;
  return look_at_token(caller, path, token, ignored);
}

Result<CheckAnswer> LeaseManager::check(const Caller& caller, const std::string& path, Token token) {
  bool has_notices = false;
  auto answer = look_at_token(caller, path, token, has_notices);
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

Result<std::size_t> LeaseManager::turn_started(const Holder& holder) {
  return change<std::size_t>({.workspace = workspace_, .owners = {holder.owner}}, nullptr,
                             [&](Transaction& transaction, const Context& context) {
                               return leasehold::turn_started(transaction, context, holder);
                             });
}

Result<std::size_t> LeaseManager::turn_stopped(const Holder& holder) {
  return change<std::size_t>({.workspace = workspace_, .owners = {holder.owner}}, nullptr,
                             [&](Transaction& transaction, const Context& context) {
                               return leasehold::turn_stopped(transaction, context, holder);
                             });
}

}  // namespace leasehold
