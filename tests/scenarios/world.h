// The small world a scenario plays in: a store, a clock, agents and their processes.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "manager/lease_manager.h"
#include "scenarios/fake_liveness.h"
#include "scenarios/names.h"
#include "scenarios/recording_store.h"
#include "scenarios/served.h"
#include "support/manual_clock.h"
#include "support/stores.h"

namespace leasehold::scenario {

// The script asks for something that makes no sense. What to write instead is in the message.
class BadStep : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SeededRandom final : public Random {
 public:
  std::uint64_t next() override { return engine_(); }

 private:
  std::mt19937_64 engine_{1};
};

// A request that waits, or waited.
struct KnownTicket {
  GroupId id;
  std::string owner;
  std::vector<Scope> scopes;
  bool granted = false;
};

class World {
 public:
  // `served`: whoever calls does so over HTTP.
  explicit World(const StoreFactory& factory, bool served = false);

  // Whom the agents ask; and a manager on the same store, for what only that can do.
  Client& client();
  LeaseManager& manager() { return *manager_; }
  Names names;
  ManualClock clock;

  // The moment that what a client is told compares with: over HTTP times are people's.
  Time now() const;
  void step_wall(Duration by);

  // Policy and rooms belong to the process that serves, so changing them starts another one.
  void change_policy(const Policy& policy);
  const Policy& policy() const { return policy_; }
  void set_room(const std::string& room, bool busy);

  // Who calls under this name: as it was left by the last step about it, with a process of its own.
  // Whoever's process is dead does not call.
  Caller& caller(const std::string& owner);

  void kill(const std::string& owner);
  void hide(const std::string& owner);
  void stop(const std::string& owner);
  void show(const std::string& owner);
  void restart(const std::string& owner);
  void move_elsewhere(const std::string& owner);
  void reboot();

  void remember_ticket(const GroupId& id, const std::string& owner, const AcquireRequest& request);
  // A halted worker's bell, which rings when it is instructed.
  void remember_blocker(const GroupId& id, const std::string& owner) { blockers_.emplace(id, owner); }

  // The owner's newest ticket, or its newest one for a path.
  const KnownTicket& ticket(const std::string& owner, const std::vector<Scope>& scopes) const;

  // Whose bells were rung since the last call, in that order. A bell that is rung for a request that was
  // not granted, or not rung for one that was, is told in `problem`.
  std::vector<std::string> take_woken(std::string& problem);

  // The tokens of grants on overlapping paths rise; else what is wrong.
  std::string check_tokens();
  // The store finds nothing in it that should not be there; else what it found.
  std::string check_store();

 private:
  Caller& known(const std::string& owner);
  Process& process_of(const std::string& owner);
  void start_manager();
  void tell_room(const std::string& room, bool busy);
  bool is_granted(const GroupId& ticket);

  SeededRandom random_;
  FakeLiveness liveness_;
  std::unique_ptr<StoreSite> site_;
  std::unique_ptr<Store> store_;
  RecordingStore recording_;
  Policy policy_;
  std::set<std::string> busy_rooms_;
  std::unique_ptr<LeaseManager> manager_;
  const bool is_served_;
  std::unique_ptr<ServedWorld> served_;
  std::map<std::string, Caller> callers_;
  std::vector<KnownTicket> tickets_;
  std::map<GroupId, std::string> blockers_;
};

}  // namespace leasehold::scenario
