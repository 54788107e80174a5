#include "scenarios/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "model/scope.h"

namespace leasehold::scenario {
namespace {

constexpr const char* kWorkspace = "here";

std::size_t count(const std::vector<GroupId>& ids, const GroupId& id) {
  return static_cast<std::size_t>(std::ranges::count(ids, id));
}

}  // namespace

World::World(const StoreFactory& factory, bool served)
    : site_(factory.make(clock)), store_(site_->open()), recording_(*store_), is_served_(served) {
  start_manager();
}

void World::start_manager() {
  const Environment environment = {liveness_, random_};
  manager_ = std::make_unique<LeaseManager>(environment, recording_, kWorkspace, policy_);
  if (is_served_) served_ = std::make_unique<ServedWorld>(recording_, environment, kWorkspace, policy_);
  for (const std::string& room : busy_rooms_) tell_room(room, true);
}

Client& World::client() {
  if (served_) return served_->client();
  return *manager_;
}

Time World::now() const { return served_ ? Time(clock.wall().time_since_epoch()) : clock.now(); }

void World::step_wall(Duration by) {
  clock.step_wall(by);
  if (served_) served_->refresh_moment();
}

void World::tell_room(const std::string& room, bool busy) {
  manager_->rooms().set_busy(room, busy);
  if (!served_) return;
  if (const auto told = served_->client().set_room_busy(room, busy); !told)
    throw BadStep(told.error().message);
}

void World::change_policy(const Policy& policy) {
  policy_ = policy;
  start_manager();
}

void World::set_room(const std::string& room, bool busy) {
  if (busy) {
    busy_rooms_.insert(room);
  } else {
    busy_rooms_.erase(room);
  }
  tell_room(room, busy);
}

Caller& World::known(const std::string& owner) {
  const auto [place, is_new] = callers_.try_emplace(owner);
  if (is_new) place->second.holder = {.owner = parse_owner(owner), .process = liveness_.start_here()};
  return place->second;
}

Caller& World::caller(const std::string& owner) {
  Caller& caller = known(owner);
  const auto& process = caller.holder.process;
  if (process && liveness_.look_at(*process).liveness == Liveness::dead) {
    throw BadStep(
        fmt::format("{0}'s process is dead and calls nobody; 'restart {0}' gives it a new one", owner));
  }
  return caller;
}

Process& World::process_of(const std::string& owner) {
  auto& process = known(owner).holder.process;
  if (!process) throw BadStep(owner + " has no process");
  return *process;
}

void World::kill(const std::string& owner) { liveness_.kill(process_of(owner)); }
void World::hide(const std::string& owner) { liveness_.hide(process_of(owner)); }
void World::stop(const std::string& owner) { liveness_.stop(process_of(owner)); }
void World::show(const std::string& owner) { liveness_.show(process_of(owner)); }
void World::restart(const std::string& owner) { known(owner).holder.process = liveness_.start_here(); }
void World::move_elsewhere(const std::string& owner) { process_of(owner) = liveness_.start_elsewhere(); }
void World::reboot() { liveness_.reboot(); }

void World::remember_ticket(const GroupId& id, const std::string& owner, const AcquireRequest& request) {
  if (std::ranges::find(tickets_, id, &KnownTicket::id) != tickets_.end()) return;
  KnownTicket ticket = {.id = id, .owner = owner};
  for (const WantedPath& wanted : request.paths) ticket.scopes.push_back(wanted.scope());
  tickets_.push_back(std::move(ticket));
}

const KnownTicket& World::ticket(const std::string& owner, const std::vector<Scope>& scopes) const {
  for (const KnownTicket& ticket : tickets_ | std::views::reverse) {
    const auto is_wanted = [&](const Scope& scope) {
      return std::ranges::find(ticket.scopes, scope) != ticket.scopes.end();
    };
    if (ticket.owner == owner && std::ranges::all_of(scopes, is_wanted)) return ticket;
  }
  throw BadStep(owner + " has not waited for that");
}

bool World::is_granted(const GroupId& id) {
  bool granted = false;
  const auto seen =
      recording_.view({.workspace = kWorkspace, .tickets = {id}}, [&](View& view) -> Result<void> {
        const std::optional<Ticket> ticket = view.ticket(id);
        granted = ticket && ticket->status == Status::active;
        return {};
      });
  if (!seen) throw BadStep("the store does not show a ticket: " + seen.error().message);
  return granted;
}

std::vector<std::string> World::take_woken(std::string& problem) {
  const std::vector<GroupId> rung = recording_.take_rung();
  std::vector<std::string> woken;
  for (const GroupId& id : rung) {
    const auto ticket = std::ranges::find(tickets_, id, &KnownTicket::id);
    const auto blocker = blockers_.find(id);
    const std::string other = blocker == blockers_.end() ? "nobody" : blocker->second;
    woken.push_back(ticket == tickets_.end() ? other : ticket->owner);
  }
  for (KnownTicket& ticket : tickets_) {
    const bool just_granted = !ticket.granted && is_granted(ticket.id);
    ticket.granted |= just_granted;
    const std::size_t rings = count(rung, ticket.id);
    if (rings == (just_granted ? 1 : 0)) continue;
    problem += fmt::format("{}'s bell was rung {} times, and its request {}. ", ticket.owner, rings,
                           just_granted ? "was granted" : "was not granted");
  }
  return woken;
}

std::string World::check_tokens() {
  const auto history = manager_->history({});
  if (!history) return "the store does not show its history: " + history.error().message;
  std::vector<const Event*> grants;
  for (const Event& event : *history) {
    if (event.type != EventType::acquired && event.type != EventType::upgraded) continue;
    for (const Event* earlier : grants) {
      // One grant has one token for all its paths. A transfer keeps the group, and is another grant.
      const bool same_grant = earlier->group_id == event.group_id && earlier->owner == event.owner &&
                              earlier->type == event.type && earlier->at == event.at;
      const bool overlap = overlaps({earlier->path, earlier->subtree}, {event.path, event.subtree});
      if (same_grant || !overlap || earlier->token < event.token) continue;
      return fmt::format("token {} of {} on {} is not greater than {} before it", event.token.value,
                         to_text(event.owner), event.path, earlier->token.value);
    }
    grants.push_back(&event);
  }
  return "";
}

std::string World::check_store() {
  const auto defects = recording_.examine(kWorkspace, false);
  if (!defects) return "the store cannot be examined: " + defects.error().message;
  if (defects->empty()) return "";
  return fmt::format("the store finds {} wrong: {}", defects->front().where, defects->front().what);
}

}  // namespace leasehold::scenario
