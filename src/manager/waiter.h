// One acquire on its way to an answer, without a thread of its own: it asks, says what to sleep on, and asks
// again. A thread that has nothing else to do sleeps in run_to_end(); the daemon lets its loop of events do
// it for thousands.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "leasehold/client.h"
#include "store/store.h"
#include "util/descriptor.h"

namespace leasehold {

class LeaseManager;

bool has_rung(const Bell& bell);

// For one thread at a time. The manager outlives it.
class Waiter {
 public:
  enum class Until {
    queued,             // A place in the queue is an answer.
    queued_as_profile,  // The same; who does not say how long it waits does so as its profile says.
    decided,            // Only what became of it is.
  };
  Waiter(LeaseManager& manager, AcquireRequest request, Until until);

  // One that is queued already, by a request of the same owner.
  Waiter(LeaseManager& manager, Caller caller, GroupId ticket);

  // Asks, or asks again. Blocks for the store's timeout. Done once answer() is there.
  void look();

  // Only sees whether it was granted, and writes nothing: while others commit, this need not wait for them.
  void glance();

  // Gives up: nothing stays held or queued. The answer is Refused with `lost`, or why that could not be done.
  void give_up();

  // Forgets the last look() or give_up(): what it wrote was not kept (Store::together).
  void undo();

  const std::optional<Result<AcquireAnswer>>& answer() const { return answer_; }
  Result<AcquireAnswer> take_answer() { return *std::move(answer_); }

  // How long it has been in the queue, or was.
  Duration waited() const { return waited_; }

  // How it stands while there is no answer yet.
  AcquireAnswer standing() { return {last_, std::exchange(told_, {})}; }

  // What to sleep on before the next look(): until any of these can be read, or so much time has passed.
  struct Pause {
    std::vector<int> fds;
    Duration at_most{};
  };
  Pause pause() const;

 private:
  void begin();
  Result<void> listen();
  void listen_anew();
  bool waits_on();
  bool may_queue_again();
  void attempt();
  void note_standing();
  void settle(Result<AcquireAnswer> answer);
  void wait_on(Result<AcquireAnswer> answer);
  void finish(Result<AcquireAnswer> answer);

  LeaseManager& manager_;
  AcquireRequest request_;
  const Until until_;
  std::optional<Result<AcquireAnswer>> answer_;

  GroupId ticket_;
  std::unique_ptr<Bell> bell_;
  int attempts_ = 0;
  bool counted_ = false;  // Against its session's limit.

  // As they were before the last look().
  struct Before {
    int attempts = 0;
    bool counted = false;
    bool queued = false;
    std::size_t told = 0;
  } before_;

  bool queued_ = false;
  bool replays_ = false;  // It waits since an earlier call, under the same idempotency key.
  bool hears_bell_ = false;
  int unseen_ = 0;  // Times it only showed that it is there, since it looked.
  Duration pause_{};
  // The processes of those in the way; each tells when it has ended.
  std::vector<std::shared_ptr<const Descriptor>> watched_;
  Queued last_;
  std::vector<Notice> told_;  // By any of the answers on the way.
  std::chrono::steady_clock::time_point began_;
  Duration waited_{};
  // When to stop asking a store that does not answer. Nothing: at once; whoever asked does so again.
  std::optional<std::chrono::steady_clock::time_point> patience_;
};

// Until one of them is readable, or so much time has passed. True if it was `cancelled`.
bool sleep_on(const Waiter::Pause& pause, int cancelled);

// Sleeps and looks until there is an answer, or until `cancelled` becomes readable and the wait was given up.
Result<AcquireAnswer> run_to_end(Waiter& waiter, int cancelled);

}  // namespace leasehold
