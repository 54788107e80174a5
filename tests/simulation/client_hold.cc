// What a client does with its leases, and by mistake with those of others.
#include <fmt/format.h>

#include <algorithm>

#include "simulation/client_call.h"

namespace leasehold::simulation {

using namespace std::chrono_literals;

// Checked at the write itself: the client may have been stopped since it decided to.
void Client::write() {
  const std::optional<Belief> belief = some_belief(Mode::exclusive);
  if (!belief) return;
  std::string path = belief->scope.path;
  if (belief->scope.subtree) path += world_.dice.chance(50) ? "/b" : "/h";
  call<Result<CheckAnswer>>(
      fmt::format("writes {} with {}", path, world_.trace.name(belief->token)), {.kind = Call::Kind::check},
      [this, path, token = belief->token] {
        auto answer = world_.service().check(caller_, path, token);
        world_.checker.checked(path, token, answer);
        if (answer && answer->current) world_.checker.written(role_.owner, path, token);
        return answer;
      },
      [](const Result<CheckAnswer>&, Time) {});
}

void Client::renew() {
  Dice& dice = world_.dice;
  RenewRequest request = {.caller = caller_};
  const std::vector<Belief> held = beliefs();
  if (!memories_.empty() && dice.chance(30)) {  // Maybe long gone.
    const Memory& old = memories_[dice.below(memories_.size())];
    request.which.ids = {old.id};
    if (dice.chance(50)) request.token = old.token;
  } else if (held.empty() || dice.chance(50)) {
    request.which.all = true;
  } else {
    const Belief& belief = dice.pick(held);
    request.which.ids = {belief.lease};
    request.token = belief.token;
    if (dice.chance(10)) request.which.ids.push_back(belief.lease);
  }
  // One that acts for others must not shorten what they count on.
  if (dice.chance(30) && !role_.whole_session) request.ttl = dice.between(2s, 60s);

  Call context = this->context(Call::Kind::renew);
  context.which = request.which;
  call<Result<Outcomes>>(
      fmt::format("renews {}{}", world_.trace.text(request.which),
                  request.ttl ? " ttl=" + seconds(*request.ttl) : ""),
      context,
      [this, context, request] {
        // Should the answer be lost, the shorter of the two times counts.
        if (request.ttl) {
          const LeaseId only = request.which.all ? LeaseId() : request.which.ids.front();
          world_.beliefs.cut({role_.owner, only, world_.now(), world_.now() + *request.ttl});
        }
        auto answer = world_.service().renew(request);
        world_.checker.renewed(context, answer);
        return answer;
      },
      [this, request](const Result<Outcomes>& answer, Time asked) {
        if (!answer) return;
        for (const Outcome& outcome : answer->outcomes) {
          if (!outcome.error) {
            take({*outcome.lease}, asked);
          } else if (!request.which.ids.empty()) {
            world_.beliefs.drop(index_, request.which.ids.front());
          } else {
            world_.beliefs.drop_path(index_, outcome.path);
          }
        }
      });
}

void Client::release() {
  Dice& dice = world_.dice;
  ReleaseRequest request = {.caller = caller_};
  const std::vector<Belief> held = beliefs();
  const std::vector<Belief>& anybodys = world_.beliefs.all();
  if (!memories_.empty() && dice.chance(25)) {  // Again, or with the token of an earlier grant.
    const Memory& old = memories_[dice.below(memories_.size())];
    if (dice.chance(50)) {
      request.which.ids = {old.id};
    } else {
      request.which.paths = {old.path};
    }
    request.token = old.token;
  } else if (!anybodys.empty() && dice.chance(20)) {  // Maybe another's.
    const Belief& belief = dice.pick(anybodys);
    if (dice.chance(50)) {
      request.which.ids = {belief.lease};
    } else {
      request.which.paths = {belief.scope.path};
    }
    if (dice.chance(50)) request.token = belief.token;
  } else if (dice.chance(10)) {
    return release_all();
  } else if (!held.empty()) {
    const Belief& belief = dice.pick(held);
    if (dice.chance(50)) {
      request.which.ids = {belief.lease};
      request.token = belief.token;
      if (dice.chance(10)) request.which.ids.push_back(belief.lease);
    } else {
      request.which.paths = {belief.scope.path};
    }
  } else {
    return;
  }
  release(std::move(request));
}

void Client::release_all() {
  ReleaseRequest request = {.caller = caller_};
  if (!role_.owner.session_id.empty() && world_.dice.chance(30)) {
    request.which.session_id = role_.owner.session_id;
  } else {
    request.which.all = true;
  }
  release(std::move(request));
}

// From here on it believes in nothing that this may end.
void Client::release(ReleaseRequest request) {
  for (const LeaseId& id : request.which.ids) world_.beliefs.drop(index_, id);
  for (const std::string& path : request.which.paths) world_.beliefs.drop_path(index_, path);
  if (request.which.ids.empty() && request.which.paths.empty()) world_.beliefs.drop_all(index_);
  world_.beliefs.drop_pairs(index_);

  Call context = this->context(Call::Kind::release);
  context.which = request.which;
  context.token = request.token;
  call<Result<Outcomes>>(
      fmt::format("releases {}{}", world_.trace.text(request.which),
                  request.token ? " with " + world_.trace.name(*request.token) : ""),
      context, [this, request] { return world_.service().release(request); },
      [](const Result<Outcomes>&, Time) {});
}

void Client::downgrade() {
  const std::optional<Belief> belief = some_belief(Mode::exclusive);
  if (!belief) return;
  ReleaseRequest request = {.caller = caller_, .which = {.paths = {belief->scope.path}}};
  if (world_.dice.chance(50)) request.which.paths.push_back(belief->scope.path);
  world_.beliefs.weaken(index_, belief->scope.path);
  Call context = this->context(Call::Kind::downgrade);
  context.which = request.which;
  call<Result<Outcomes>>(
      "downgrades " + world_.trace.text(request.which), context,
      [this, request] { return world_.service().downgrade(request); }, [](const Result<Outcomes>&, Time) {});
}

// The receiver learns of it from the giver.
void Client::transfer() {
  Dice& dice = world_.dice;
  Client* to = dice.pick(peers_);
  const std::vector<Belief> held = beliefs();
  if (to == this || held.empty()) return;
  TransferRequest request = {.caller = caller_, .to = to->holder()};
  if (dice.chance(30)) {
    request.which.all = true;
    world_.beliefs.drop_all(index_);
  } else {
    const Belief& belief = dice.pick(held);
    request.which.paths = {belief.scope.path};
    world_.beliefs.drop_path(index_, belief.scope.path);
    world_.beliefs.drop_pairs(index_);
  }
  Call context = this->context(Call::Kind::transfer);
  context.which = request.which;
  context.to = request.to.owner;
  call<Result<Outcomes>>(
      fmt::format("transfers {} to {}", world_.trace.text(request.which), request.to.owner.agent_id), context,
      [this, request] { return world_.service().transfer(request); },
      [to, life = to->life_](const Result<Outcomes>& answer, Time asked) {
        if (!answer || !to->up_ || to->life_ != life) return;
        for (const Outcome& outcome : answer->outcomes) {
          // What the receiver held before is as old as it is.
          const bool given = !outcome.error && outcome.lease && outcome.lease->updated_at >= asked;
          if (given) to->take({*outcome.lease}, asked);
        }
      });
}

void Client::turn() {
  turn_open_ = !turn_open_;
  call<Result<std::size_t>>(
      turn_open_ ? "starts a turn" : "stops its turn", {.kind = Call::Kind::turn},
      [this, holder = caller_.holder, started = turn_open_] {
        if (started) return world_.service().turn_started(holder);
        world_.beliefs.cut({role_.owner, {}, world_.now(), world_.now() + world_.policy.idle_grace});
        return world_.service().turn_stopped(holder);
      },
      [](const Result<std::size_t>&, Time) {});
}

}  // namespace leasehold::simulation
