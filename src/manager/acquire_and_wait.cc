// How a caller waits: asleep until its bell rings or somebody in its way may have run out, and never for good
// because of one bad answer.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>

#include "manager/lease_manager.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// A bell can be lost with the machine that should have rung it; a waiter looks again by itself.
constexpr Duration kSafetyPoll = 1s;

// A store that is restarted or busy is back soon; asking more often would only keep it busy.
constexpr Duration kRetryPause = 200ms;

// How long a waiter may sleep: until somebody in its way may run out, or its own time is up.
Duration time_to_next_look(const Queued& queued) {
  Time next = queued.wait_until;
  for (const Blocked& blocked : queued.blocked) {
    if (blocked.expires_at > queued.at) next = std::min(next, blocked.expires_at);
  }
  return std::clamp(std::chrono::ceil<Duration>(next - queued.at), Duration(1), kSafetyPoll);
}

// Enough to see who dies; should there be more, the safety poll finds out.
constexpr std::size_t kWatchedMax = 32;

// The processes of those in the way, as descriptors that tell when one has ended.
class Watch {
 public:
  Watch() = default;
  Watch(LivenessProbe& liveness, const std::vector<Blocked>& blocked) {
    std::set<Process> processes;
    for (const Blocked& one : blocked) {
      if (one.holder.process && processes.size() < kWatchedMax) processes.insert(*one.holder.process);
    }
    for (const Process& process : processes) {
      if (const int fd = liveness.watch(process); fd >= 0) fds_.push_back(fd);
    }
  }
  Watch(Watch&& other) noexcept : fds_(std::exchange(other.fds_, {})) {}
  Watch& operator=(Watch&& other) noexcept {
    std::swap(fds_, other.fds_);
    return *this;
  }
  ~Watch() {
    for (const int fd : fds_) close(fd);
  }

  const std::vector<int>& fds() const { return fds_; }

 private:
  std::vector<int> fds_;
};

// True: `cancelled` became readable, or its other end was closed.
bool sleep_until_rung(int bell, int cancelled, const Watch& watch, Duration at_most) {
  std::vector<pollfd> fds = {{cancelled, POLLIN, 0}, {bell, POLLIN, 0}};
  for (const int fd : watch.fds()) fds.push_back({fd, POLLIN, 0});
  poll(fds.data(), fds.size(), static_cast<int>(at_most.count()));
  return fds.front().revents != 0;
}

// The request still waits, as far as anybody knows, and looking again is safe.
bool may_pass(Code code) {
  return code == Code::unavailable || code == Code::transaction_conflict || code == Code::outcome_unknown;
}

// When to stop asking a store that does not answer. The store's clock cannot be asked then, so this is
// measured here, from the last answer there was.
class Patience {
 public:
  void renew(const Queued& queued) {
    end_ = std::chrono::steady_clock::now() + (queued.wait_until - queued.at);
  }
  bool is_over() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

}  // namespace

Result<AcquireAnswer> LeaseManager::acquire_and_wait(const AcquireRequest& asked, int cancelled) {
  AcquireRequest request = asked;
  if (const auto policy = this->policy(); !request.wait && policy->waiting_allowed)
    request.wait = policy->wait_max;
  if (!request.wait) return acquire(request);
  if (auto refused = refused_by_room(request)) return std::move(*refused);
  const GroupId group = new_group();
  // Opened before the ticket exists, so that no ring is missed.
  Result<std::unique_ptr<Bell>> bell = store_.listen(group);
  if (!bell) return fail(bell.error());
  Result<AcquireAnswer> answer = acquire(request, group);
  clean_up_if_due();
  const auto* queued = answer ? std::get_if<Queued>(&answer->decision) : nullptr;
  if (queued == nullptr) return answer;

  const GroupId ticket = queued->ticket;
  const bool waited_before = ticket != group;  // By an earlier try under the same idempotency key.
  if (waited_before) {
    bell = store_.listen(ticket);
    if (!bell) return fail(bell.error());
  }
  // It may have rung before anybody listened: then the first look is at once.
  return wait_for(request.caller, ticket, std::move(*answer),
                  {.bell = (*bell)->fd(), .cancelled = cancelled, .look_now = waited_before});
}

Result<AcquireAnswer> LeaseManager::wait_for(const Caller& caller, const GroupId& ticket, AcquireAnswer first,
                                             const WaitOn& on) {
  Result<AcquireAnswer> answer = std::move(first);
  std::vector<Notice> told;  // By any of the answers on the way.
  Patience patience;
  const auto began = std::chrono::steady_clock::now();
  for (bool look_now = on.look_now;; look_now = false) {
    Duration pause = kRetryPause;
    Watch watch;
    if (answer) {
      std::ranges::move(answer->notices, std::back_inserter(told));
      const auto* queued = std::get_if<Queued>(&answer->decision);
      if (queued == nullptr) return AcquireAnswer{std::move(answer->decision), std::move(told)};
      patience.renew(*queued);
      pause = look_now ? Duration::zero() : time_to_next_look(*queued);
      watch = Watch(environment_.liveness, queued->blocked);
    } else if (!may_pass(answer.error().code)) {
      return answer;
    } else if (patience.is_over()) {
      std::ignore =
          cancel(caller, ticket);  // Perhaps the store hears this. Else the wait ends there by its time.
      return answer;
    }
    // A bell that has rung stays rung: listening to it after an error would ask without pause.
    if (sleep_until_rung(answer ? on.bell : -1, on.cancelled, watch, pause)) {
      if (auto gave_up = cancel(caller, ticket); !gave_up) return fail(gave_up.error());
      const auto waited = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began);
      return AcquireAnswer{
          Refused{Code::lost, "The wait was cancelled. Nothing is held or queued.", {}, waited},
          std::move(told)};
    }
    answer = poll(caller, ticket);
  }
}

}  // namespace leasehold
