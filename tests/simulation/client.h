#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simulation/roles.h"
#include "simulation/world.h"

namespace leasehold::simulation {

// An agent that leases files and writes them. It knows only what it was told, and stops believing it
// when its time, counted from before the call, is up. Within that it is careless: it asks for things
// it holds, releases what is not its own, tries again what failed, and may be stopped at any point.
class Client {
 public:
  Client(World& world, std::size_t index, Role role);

  void set_peers(const std::vector<Client*>& peers) { peers_ = peers; }

  // Does the most pressing thing there is to do, or something new.
  void step();

  // The same when no new work is taken on: finish, give back, or wait on.
  void finish();

  // When finish() should be called next, should nothing happen before.
  Time next_due() const;

  void crash();
  void restart(const std::optional<Process>& process);
  bool is_up() const { return up_; }
  bool can_restart() const { return !up_ && !in_flight_; }
  bool waits() const { return !waits_.empty(); }
  bool is_calling() const { return in_flight_.has_value(); }

  void hear_bell(const GroupId& ticket);
  void look_at_once(const GroupId& ticket);  // Woken by a service that rings too early.
  void hear_of_death(const Process& process);
  void hear_of_restart();

  const Role& role() const { return role_; }
  const Holder& holder() const { return caller_.holder; }
  int life() const { return life_; }

 private:
  // A request under way, or its answer.
  struct InFlight {
    Time due;
    std::function<void()> go;
  };

  // A request that is queued, as far as this client knows.
  struct Wait {
    GroupId ticket;
    AcquireRequest request;
    bool upgrade = false;
    Time not_granted_before;  // When the last call began that was answered with queued.
    Time look_at;             // The earliest moment at which somebody in the way may be gone.
    std::vector<Process> in_the_way;
    bool woken = false;
    bool cancelling = false;
  };

  // A request whose answer was lost.
  struct Unanswered {
    AcquireRequest request;
    bool upgrade = false;
    Time first_asked;
  };

  // A lease as it once was.
  struct Memory {
    LeaseId id;
    std::string path;
    Token token;
  };

  // Makes a call: now, or after a while. Its answer comes now, or after a while, or never.
  template <class Answer>
  void call(const std::string& what, Call context, std::function<Answer()> ask,
            std::function<void(const Answer&, Time asked)> hear);
  void put_in_flight(std::function<void()> go);
  Call context(Call::Kind kind) const;

  void do_something();
  void start_work();
  void ask(AcquireRequest request, bool upgrade, Time first_asked);
  void ask_again();
  void hear_decision(const AcquireAnswer& answer, const AcquireRequest& request, bool upgrade, Time asked,
                     Time granted_after);
  // `as_of` is when the leases were as they are shown, if that was not when they were last changed.
  void take(const std::vector<Lease>& leases, Time granted_after, std::optional<Time> as_of = std::nullopt);
  void look(const GroupId& ticket);
  void cancel(const GroupId& ticket);
  void write();
  void renew();
  void release();
  void release(ReleaseRequest request);
  void release_all();
  void upgrade();
  void downgrade();
  void transfer();
  void turn();
  void gate();
  void write_by(const AcquireRequest& request, const std::vector<Lease>& leases);
  void hear_gate(const GateRequest& request, const GateAnswer& answer, Time asked);
  void end_session();

  AcquireRequest some_request();
  std::vector<Belief> beliefs() const;           // That are still good.
  std::optional<Belief> some_belief(Mode mode);  // One of them, of that mode.
  Wait* find_wait(const GroupId& ticket);
  const Wait* pressing_wait() const;
  void forget_wait(const GroupId& ticket);

  World& world_;
  const std::size_t index_;
  const Role role_;
  Caller caller_;
  std::vector<Client*> peers_;

  bool up_ = true;
  int life_ = 0;  // Answers to an earlier life are not heard.
  std::optional<InFlight> in_flight_;
  std::vector<Wait> waits_;
  std::vector<Unanswered> unanswered_;
  std::optional<Unanswered> last_keyed_;
  std::optional<AcquireRequest> denied_;  // At the gate. Its next process goes on with it.
  std::deque<Memory> memories_;
  int keys_ = 0;
  bool turn_open_ = false;
  bool finishing_ = false;
  bool gave_back_ = false;
};

}  // namespace leasehold::simulation
