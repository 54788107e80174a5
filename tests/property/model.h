// What Leasehold promises, in the plainest code there is: one list of leases, one list of tickets, and
// loops over all of them. It shares neither code nor ideas with the engine, so that a mistake there does
// not meet its twin here. What it promises are DESIGN's rules; where the engine may choose when to notice
// something, the model notices at once.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "leasehold/lease.h"
#include "property/operation.h"

namespace leasehold::property {

// The rules' numbers in this test, in seconds. Small, so that few steps reach them all.
inline constexpr long kTtlMax = 300;
inline constexpr long kSilenceMax = 200;
inline constexpr long kIdleGrace = 30;
inline constexpr long kWaiterSilence = 16;
inline constexpr long kPriorityStep = 10;

bool overlap(const Place& a, const Place& b);
// Whoever has `all` has `part` too.
bool contains(const Place& all, const Place& part);

std::string joined(std::vector<std::string> parts);
// Who is in the way; only how many if they are more than an answer may name.
std::string told(std::vector<std::string> in_the_way);

enum class State { waiting, held, over };

struct ModelLease {
  int id = 0;
  int agent = 0;
  int process = 0;  // 0: none.
  Place place;
  bool exclusive = false;
  int token = 0;
  int group = 0;
  State state = State::held;
  bool was_held = true;
  EndCause cause = EndCause::none;
  long ttl = 0;
  long until = 0;
  long heard = 0;
  int renewals = 0;
  int renewals_max = -1;
  bool attended = false;
  std::optional<long> idle;
  std::optional<long> recalled;
};

struct ModelTicket {
  int id = 0;
  int agent = 0;
  int process = 0;
  std::vector<Place> wants;
  Operation asked;
  bool upgrade = false;
  long order = 0;
  long wait_until = 0;
  long proven_until = 0;
  State state = State::waiting;
  EndCause cause = EndCause::none;
  std::vector<int> leases;
  int token = 0;  // Of what the grant brought or raised.
};

class Model {
 public:
  // Takes a step; returns its answer as text.
  std::string apply(const Operation& operation);

  // Who holds and who waits, one line each.
  std::vector<std::string> board();

  // The token that a release, renewal or check names; nothing: none.
  std::optional<int> token_named(const Operation& operation) const;
  // The ticket that a poll or cancel names; nothing if there never was one.
  std::optional<int> ticket_named(const Operation& operation) const;
  // Those who looked again by themselves in the last step, in the order they will go.
  const std::vector<int>& patient_waiters() const { return patient_; }
  bool anybody_waits() const;

  const std::vector<ModelLease>& leases() const { return leases_; }
  const std::vector<ModelTicket>& tickets() const { return tickets_; }
  int process_of(int agent) const { return processes_.at(agent); }
  const std::set<int>& dead_processes() const { return dead_; }
  std::vector<int> take_woken() { return std::exchange(woken_, {}); }
  // All that ever happened to an agent behind its back.
  const std::multiset<std::string>& notices(int agent) { return notices_[agent]; }

 private:
  struct Blocker {
    int agent;
    std::string text;
  };

  std::string acquire(const Operation& asked, std::vector<Place> wants);
  std::string upgrade(Operation asked);
  std::string poll(int ticket);
  std::string cancel(int ticket);
  std::string release(const Operation& operation);
  std::string release_all(int agent);
  std::string renew(const Operation& operation, bool all);
  std::string downgrade(const Operation& operation);
  std::string transfer(const Operation& operation, bool all);
  std::string force(const Operation& operation, bool recall);
  std::string check(const Operation& operation);
  void attend(ModelLease& lease);
  void turn(int agent, bool started);

  ModelLease& lease_at(int id) { return leases_[static_cast<std::size_t>(id)]; }
  const ModelLease& lease_at(int id) const { return leases_[static_cast<std::size_t>(id)]; }
  ModelTicket& ticket_at(int id) { return tickets_[static_cast<std::size_t>(id)]; }

  EndCause over(const ModelLease& lease) const;
  EndCause over(const ModelTicket& ticket) const;
  // Where a term that starts now ends.
  long end_of_term(const ModelLease& lease) const;
  bool is_dead(int process) const { return dead_.contains(process); }
  bool is_alive(int process) const;

  ModelLease* own(int agent, const Place& place);
  bool has(int agent, const Place& place) const;
  bool has_enough(int agent, const Place& place, bool exclusive) const;
  bool is_upgrade(const ModelTicket& ticket) const;
  bool goes_before(const ModelTicket& a, const ModelTicket& b) const;
  std::vector<Blocker> blockers(const ModelTicket& ticket) const;
  std::size_t position(const ModelTicket& ticket) const;
  bool lead_back_to(int agent, const std::vector<const ModelTicket*>& start) const;
  bool would_wait_for_itself(int agent) const;
  void break_cycles(int agent);
  ModelTicket arrival(const Operation& asked, std::vector<Place> wants);

  void give(ModelTicket& ticket);
  void end(ModelLease& lease, EndCause cause);
  void fail(ModelTicket& ticket, EndCause cause);
  void look_around(Attention attention);
  void take_from(const ModelLease& lease);
  // Its owner is active again.
  void wake(ModelLease& lease) const;
  std::vector<ModelTicket*> waiting_in_order();
  void settle();

  std::vector<int> own_at(int agent, const std::string& path) const;
  const ModelLease* newest(int agent, const std::string& path) const;
  std::string why_not(int agent, const std::string& path) const;

  long now_ = 0;
  std::vector<ModelLease> leases_;
  std::vector<ModelTicket> tickets_;
  int last_token_ = 0;
  int last_process_ = kAgents;
  std::map<int, int> processes_ = {{0, 1}, {1, 2}, {kWithoutProcess, 0}, {kOutOfSight, 4}};
  std::set<int> dead_;
  std::set<int> out_of_sight_ = {4};
  std::vector<int> patient_;
  std::vector<int> woken_;
  std::set<int> losers_;      // In this step.
  std::vector<Place> freed_;  // In this step.
  std::map<int, std::multiset<std::string>> notices_;
};

}  // namespace leasehold::property
