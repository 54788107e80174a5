// A client's way to its leases: asking, waiting, being told.
#include <fmt/format.h>

#include <algorithm>

#include "simulation/client_call.h"

namespace leasehold::simulation {
namespace {

using namespace std::chrono_literals;

const std::vector<Scope> kScopes = {{"/a", true},    {"/a/b", true},    {"/a/b", false}, {"/a/b/c", false},
                                    {"/a/d", false}, {"/a/e", false},   {"/f", false},   {"/g", true},
                                    {"/g/h", false}, {"port:80", false}};
const std::vector<Duration> kTtls = {2s, 10s, 30s, 1min, 5min, 20min};
const std::vector<Duration> kWaits = {1s, 5s, 30s, 2min};

// Keys are good for an hour after the grant has ended. Whoever asks again later asks anew.
constexpr Duration kKeyLife = 30min;

}  // namespace

AcquireRequest Client::some_request() {
  Dice& dice = world_.dice;
  AcquireRequest request = {.caller = caller_};
  const std::size_t count = dice.chance(60) ? 1 : 2 + dice.below(2);
  while (request.paths.size() < count) {
    const Scope& scope = dice.pick(kScopes);
    if (std::ranges::find(request.paths, scope, &WantedPath::scope) != request.paths.end()) continue;
    request.paths.push_back({.path = scope.path, .subtree = scope.subtree});
  }
  if (request.paths.back().path != request.paths.front().path && dice.chance(20)) {
    request.paths.back().requested = false;
    request.paths.back().paired_with = {request.paths.front().path};
  }
  request.mode = dice.chance(40) ? Mode::shared : Mode::exclusive;
  if (dice.chance(80)) request.ttl = dice.pick(kTtls);
  if (dice.chance(10)) request.max_renewals = static_cast<int>(dice.below(3));
  if (dice.chance(65)) request.wait = dice.pick(kWaits);
  if (dice.chance(30)) request.priority = static_cast<int>(dice.below(21)) - 10;
  request.attended = turn_open_;
  if (dice.chance(60)) request.idempotency_key = fmt::format("k{}", ++keys_);
  return request;
}

void Client::start_work() {
  if (last_keyed_ && world_.now() - last_keyed_->first_asked < kKeyLife && world_.dice.chance(12)) {
    return ask(last_keyed_->request, last_keyed_->upgrade, last_keyed_->first_asked);
  }
  if (waits_.size() < 3) ask(some_request(), false, world_.now());
}

void Client::ask_again() {
  const Unanswered again = unanswered_.back();
  unanswered_.pop_back();
  if (world_.now() - again.first_asked < kKeyLife) ask(again.request, again.upgrade, again.first_asked);
}

void Client::ask(AcquireRequest request, bool upgrade, Time first_asked) {
  const Unanswered question = {request, upgrade, first_asked};
  if (!request.idempotency_key.empty()) last_keyed_ = question;
  Call context = this->context(Call::Kind::acquire);
  context.request = request;
  context.upgrade = upgrade;
  call<Result<AcquireAnswer>>(
      fmt::format("{} {}", upgrade ? "upgrades" : "acquires", world_.trace.text(request)), context,
      [this, context, upgrade] {
        const AcquireRequest& wanted = context.request;
        auto answer = upgrade ? world_.service().upgrade(wanted) : world_.service().acquire(wanted);
        world_.checker.answered(context, answer);
        return answer;
      },
      [this, question](const Result<AcquireAnswer>& answer, Time asked) {
        if (answer) {
          const auto* granted = std::get_if<Granted>(&answer->decision);
          const bool earlier = granted != nullptr && granted->replayed;
          hear_decision(*answer, question.request, question.upgrade, asked,
                        earlier ? question.first_asked : asked);
        } else if (!question.request.idempotency_key.empty() &&
                   (answer.error().code == Code::outcome_unknown ||
                    answer.error().code == Code::unavailable)) {
          unanswered_.push_back(question);
        }
      });
}

void Client::hear_decision(const AcquireAnswer& answer, const AcquireRequest& request, bool upgrade,
                           Time asked, Time granted_after) {
  if (const auto* granted = std::get_if<Granted>(&answer.decision)) {
    take(granted->leases, granted_after);
    return;
  }
  const auto* queued = std::get_if<Queued>(&answer.decision);
  if (queued == nullptr) return;
  Wait* wait = find_wait(queued->ticket);
  if (wait == nullptr)
    wait = &waits_.emplace_back(Wait{.ticket = queued->ticket, .request = request, .upgrade = upgrade});
  wait->not_granted_before = asked;
  wait->woken = asked != world_.now();  // The bell may have rung while the answer was on its way.
  wait->look_at = asked + (queued->wait_until - queued->at);
  wait->in_the_way.clear();
  for (const Blocked& blocked : queued->blocked) {
    if (blocked.expires_at > queued->at)
      wait->look_at = std::min(wait->look_at, asked + (blocked.expires_at - queued->at));
    if (blocked.holder.process) wait->in_the_way.push_back(*blocked.holder.process);
  }
}

// `granted_after` is a moment from before the leases were last changed: counted from there, their
// time is up no later than they are.
void Client::take(const std::vector<Lease>& leases, Time granted_after, std::optional<Time> as_of) {
  for (const Lease& lease : leases) {
    const Time end = std::min(lease.expires_at, lease.idle_at.value_or(kForever));
    world_.beliefs.hold({.client = index_,
                         .believer = role_.owner,
                         .lease = lease.id,
                         .owner = lease.holder.owner,
                         .scope = lease.scope(),
                         .mode = lease.mode,
                         .token = lease.token,
                         .requested = lease.requested,
                         .since = granted_after,
                         .deadline = granted_after + (end - as_of.value_or(lease.updated_at))});
    memories_.push_front({lease.id, lease.path, lease.token});
  }
  if (memories_.size() > 8) memories_.resize(8);
}

void Client::look(const GroupId& ticket) {
  Wait& wait = *find_wait(ticket);
  wait.woken = false;
  if (world_.bug == PlantedBug::no_recheck_after_wait) {
    std::vector<Lease> taken;
    for (const WantedPath& wanted : wait.request.paths) {
      taken.push_back({.id = {ticket.text + wanted.path},
                       .path = wanted.path,
                       .subtree = wanted.subtree,
                       .mode = wait.request.mode,
                       .holder = caller_.holder,
                       .expires_at = world_.now() + wait.request.ttl.value_or(world_.policy.ttl),
                       .updated_at = world_.now()});
    }
    take(taken, world_.now());
    return forget_wait(ticket);
  }
  Call context = this->context(Call::Kind::poll);
  context.request = wait.request;
  context.upgrade = wait.upgrade;
  call<Result<AcquireAnswer>>(
      "looks at " + world_.trace.name(ticket), context,
      [this, context, ticket] {
        auto answer = world_.service().poll(context.caller, ticket);
        world_.checker.answered(context, answer);
        return answer;
      },
      [this, ticket](const Result<AcquireAnswer>& answer, Time asked) {
        Wait* found = find_wait(ticket);
        if (found == nullptr) return;
        if (!answer) {
          const bool gone = answer.error().code == Code::not_found;
          found->woken = true;
          if (gone) forget_wait(ticket);
          return;
        }
        hear_decision(*answer, AcquireRequest(found->request), found->upgrade, asked,
                      found->not_granted_before);
        if (!std::holds_alternative<Queued>(answer->decision)) forget_wait(ticket);
      });
}

void Client::cancel(const GroupId& ticket) {
  find_wait(ticket)->cancelling = true;
  const Call context = this->context(Call::Kind::cancel);
  call<Result<void>>(
      "cancels " + world_.trace.name(ticket), context,
      [this, context, ticket] { return world_.service().cancel(context.caller, ticket); },
      [this, ticket](const Result<void>& answer, Time) {
        if (answer || answer.error().code == Code::not_found) forget_wait(ticket);
      });
}

void Client::upgrade() {
  const std::optional<Belief> belief = some_belief(Mode::shared);
  if (!belief) return;
  AcquireRequest request = some_request();
  request.paths = {{.path = belief->scope.path, .subtree = belief->scope.subtree}};
  request.mode = Mode::exclusive;
  ask(std::move(request), true, world_.now());
}

}  // namespace leasehold::simulation
