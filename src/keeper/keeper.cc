// The threads around a KeeperState. One makes the client's calls and may hang in one for as long as it likes;
// the other watches the deadlines and tells the events, so neither a hanging call nor a slow listener holds
// the other up. Both, and the keeper's methods, share the state under one mutex, which nobody holds while
// calling the client, the listener or the clock's wait.
//
// What the threads touch is owned together (Shared): a thread that hangs may be left behind.
#include "leasehold/keeper.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>

#include "client/named_leases.h"
#include "env/boottime_local_clock.h"
#include "env/system_random.h"
#include "keeper/keeper_state.h"
#include "util/nudge.h"

namespace leasehold {

struct Keeper::Shared {
  Shared(std::shared_ptr<Client> its_client, Caller its_caller, KeeperOptions its_options)
      : client(std::move(its_client)),
        caller(std::move(its_caller)),
        options(std::move(its_options)),
        state(caller, random, options.recovers) {}

  const std::shared_ptr<Client> client;
  const Caller caller;
  const KeeperOptions options;

  std::atomic<bool> stopping = false;
  std::atomic<std::thread::id> teller;
  Nudge wake_caller;
  Nudge wake_teller;
  Nudge caller_done;  // Never taken.

  SystemRandom random;
  std::mutex mutex;
  KeeperState state;  // Guarded by mutex.

  LocalTime now() const { return options.clock->now(); }

  // The state has changed, or is to be looked at.
  void wake_both() {
    wake_caller.give();
    wake_teller.give();
  }

  Step next_step() {
    const std::lock_guard lock(mutex);
    return state.next(now());
  }

  // Makes the call and notes its answer. Its time is taken before anything is sent: what the store decides,
  // it decides later than that.
  template <class Call, class Ask>
  void exchange(const Call& call, const Ask& ask) {
    const LocalTime asked_at = now();
    const auto answer = ask();
    {
      const std::lock_guard lock(mutex);
      state.answered(call, answer, {asked_at, now()});
    }
    wake_teller.give();
  }

  void carry_out(const Wait& wait) {
    options.clock->wait(wait.until, wake_caller.fd());
    wake_caller.take();
  }
  void carry_out(const RenewCall& call) {
    exchange(call, [&] { return client->renew(call.request); });
  }
  void carry_out(const LookCall& call) {
    exchange(call, [&] { return client->lease(call.id); });
  }
  void carry_out(const AcquireCall& call) {
    exchange(call, [&] { return client->acquire(call.request); });
  }
  void carry_out(const ReleaseCall& call) {
    // If this fails, they run out.
    std::ignore = release_named(*client, call.request);
  }

  void make_calls() {
    while (!stopping) {
      std::visit([&](const auto& step) { carry_out(step); }, next_step());
    }
    caller_done.give();
  }

  void tell_events() {
    teller = std::this_thread::get_id();
    while (!stopping) {
      std::vector<KeeperEvent> events;
      LocalTime until;
      {
        const std::lock_guard lock(mutex);
        state.expire(now());
        events = state.take_events();
        until = state.next_expiry();
      }
      for (const KeeperEvent& event : events) {
        if (stopping) return;
        if (options.on_event) options.on_event(event);
      }
      if (!events.empty()) continue;
      options.clock->wait(until, wake_teller.fd());
      wake_teller.take();
    }
  }
};

Result<std::unique_ptr<Keeper>> Keeper::start(std::shared_ptr<Client> client, Caller caller,
                                              KeeperOptions options) {
  if (options.clock == nullptr) options.clock = std::make_shared<BoottimeLocalClock>();
  auto shared = std::make_shared<Shared>(std::move(client), std::move(caller), std::move(options));
  if (!shared->wake_caller.is_open() || !shared->wake_teller.is_open() || !shared->caller_done.is_open()) {
    return fail(Code::unavailable, "No keeper could be started: no file descriptors are left.");
  }
  std::unique_ptr<Keeper> keeper(new Keeper(std::move(shared)));
  if (auto started = keeper->start_threads(); !started) return fail(started.error());
  return keeper;
}

Keeper::Keeper(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

Result<void> Keeper::start_threads() {
  try {
    teller_ = std::thread([shared = shared_] { shared->tell_events(); });
    caller_ = std::thread([shared = shared_] { shared->make_calls(); });
  } catch (const std::system_error& error) {
    return fail(Code::unavailable, std::string("No keeper could be started: ") + error.what());
  }
  return {};
}

Keeper::~Keeper() {
  stop();
  // Inside on_event, stop() could not wait for this very thread.
  if (teller_.joinable()) teller_.detach();
  if (caller_.joinable()) caller_.detach();
}

void Keeper::stop() {
  shared_->stopping = true;
  shared_->wake_both();
  if (shared_->teller == std::this_thread::get_id()) return;
  const std::lock_guard lock(stop_mutex_);
  if (teller_.joinable()) teller_.join();
  if (!caller_.joinable()) return;
  if (shared_->caller_done.wait(shared_->options.stop_grace)) {
    caller_.join();
  } else {
    caller_.detach();
  }
}

Result<AcquireAnswer> Keeper::acquire(const AcquireRequest& request, int cancelled) {
  const LocalTime asked_at = shared_->now();
  auto answer = request.wait ? shared_->client->acquire_and_wait(request, cancelled)
                             : shared_->client->acquire(request);
  const Granted* granted = answer ? std::get_if<Granted>(&answer->decision) : nullptr;
  if (granted == nullptr) return answer;
  std::vector<LeaseId> ids;
  for (const Lease& lease : granted->leases) ids.push_back(lease.id);
  std::optional<RenewCall> confirmation;
  {
    const std::lock_guard lock(shared_->mutex);
    const LocalTime now = shared_->now();
    // It was granted when the wait was over, not when it began.
    shared_->state.add(request, *granted, std::min(asked_at + granted->waited, now), now);
    confirmation = shared_->state.claim(ids, now);
  }
  if (confirmation) shared_->carry_out(*confirmation);
  shared_->wake_both();
  return answer;
}

void Keeper::add(const AcquireRequest& request, const Granted& granted, std::optional<LocalTime> asked_at) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->state.add(request, granted, asked_at, shared_->now());
  }
  shared_->wake_both();
}

void Keeper::remove(const std::vector<LeaseId>& ids) {
  const std::lock_guard lock(shared_->mutex);
  shared_->state.remove(ids);
}

Result<Outcomes> Keeper::release(const std::vector<LeaseId>& ids) {
  remove(ids);
  ReleaseRequest request = {.caller = shared_->caller};
  request.which.ids = ids;
  return release_named(*shared_->client, std::move(request));
}

bool Keeper::is_valid(const LeaseId& id) const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->state.is_valid(id, shared_->now());
}

Duration Keeper::time_left(const LeaseId& id) const {
  const std::lock_guard lock(shared_->mutex);
  return std::chrono::duration_cast<Duration>(shared_->state.left(id, shared_->now()));
}

Result<Token> Keeper::use(const std::string& path, Mode needed) const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->state.use(path, needed, shared_->now());
}

std::vector<Lease> Keeper::kept() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->state.kept();
}

}  // namespace leasehold
