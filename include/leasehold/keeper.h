// Keeps leases alive in the background, and says at every moment whether one may still be relied on.
//
//   auto keeper = Keeper::start(client, caller, {.on_event = tell_somebody});
//   auto answer = (*keeper)->acquire(request);
//   ...
//   if (auto token = (*keeper)->use("/src/a.ts")) write_with(*token);  // Asked before each write.
//
// **When a lease is valid.** A renewal that was sent at T on this machine's clock was granted at T or later,
// so the lease lives at least until T + TTL. That moment, less a margin for clocks that run at different
// speeds (1/50 of the TTL, and 10 ms), is the lease's local deadline. is_valid(), time_left() and use()
// compare it with the clock each time they are asked. They need no thread to be awake and no answer to
// arrive: when a renewal hangs for ever, validity ends on time all the same.
//
// **What cannot be known in time.** An operator's force release or recall, a transfer and the owner's own
// idle time take effect at once; the keeper hears of them with its next renewal. The token protects what is
// written meanwhile: see Client::check.
//
// **Rhythm.** A lease is renewed at 2/5 of its TTL, +-10 % (after 2 min if it has 5), together with all
// others that are past half of their own way there: one call for all. A failed call is repeated within 1/60
// of the shortest TTL (at most 5 s), then less and less often, down to every 1/10 (at most 30 s); that is
// about ten tries before a lease is over.
//
// **After an outage.** A lease whose time ran out while the store could not be reached, or which the store
// forgot, is acquired again as it was (path, subtree, mode, TTL, reason, ...): what belonged to one grant all
// together or not at all, without waiting. What somebody else has now is reported and kept no more. A lease
// that ended otherwise (released, transferred, forced, recalled, idle, owner dead) is not acquired again.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "leasehold/client.h"
#include "leasehold/local_clock.h"

namespace leasehold {

enum class KeeperEventType {
  renewed,            // `count` leases, in one call.
  missed,             // A call failed, for the `count`th time in a row: `error`. It will be tried again.
  ending,             // The lease cannot be kept much longer (`error`: why). Still valid.
  expired,            // Its local deadline passed before it could be renewed. Not valid any more.
  lost,               // The store says that it is over: `cause`, `error`. Not valid any more.
  recovered,          // Valid again, after expired or lost.
  could_not_recover,  // Acquiring it again was refused: `error`, `blocked`. Not kept any more.
  noticed,            // A `notice` of the store came with an answer.
};
std::string_view word(KeeperEventType);

struct KeeperEvent {
  KeeperEventType type{};
  std::optional<Lease> lease;  // As last heard of. None for renewed, missed, noticed.
  std::size_t count = 1;
  // recovered: the lease that was over. The same as lease->id: the store had kept it all the time. Else
  // somebody may have held the path, and changed it, in between.
  LeaseId previous;
  EndCause cause = EndCause::none;  // lost: none if nobody knows any more.
  std::optional<Error> error;
  std::vector<Blocked> blocked;  // could_not_recover: who is in the way, on any path of the grant.
  std::optional<Notice> notice;
};

struct KeeperOptions {
  // Called for each event, in order, one at a time, by a thread of the keeper that does nothing else: it may
  // take its time, and may call the keeper, but must not throw. Empty: nobody is told.
  //
  // Events come after the fact. Whether a lease may be used is what use() says, not the last event.
  std::function<void(const KeeperEvent&)> on_event;

  std::shared_ptr<LocalClock> clock;  // Null: this machine's time since boot.

  // How long stop() waits for a call that is under way.
  Duration stop_grace = std::chrono::seconds(1);

  // False: what is lost is not acquired again, because what was done under it has to begin anew anyway.
  bool recovers = true;
};

// Every method is thread-safe. Only start(), acquire(), release() and stop() may block; the others never wait
// for the client or for on_event.
class Keeper {
 public:
  // Starts to keep leases of `caller`. The keeper shares the client: should one of its calls hang when the
  // keeper is stopped, client and clock live on until that call returns. So what the client uses (a store, an
  // environment) must belong to it, not merely outlive the keeper.
  //
  // Errors: unavailable (the system has no descriptors or threads left).
  static Result<std::unique_ptr<Keeper>> start(std::shared_ptr<Client> client, Caller caller,
                                               KeeperOptions options = {});

  // stop(). May also happen inside on_event.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Client::acquire, or acquire_and_wait if the request has a `wait`, and add() of what was granted. If the
  // grant may be old by the time the answer is here (a long wait, a replayed idempotency key), it is renewed
  // once before this returns.
  // Errors: those of the client. A granted lease that could not be confirmed is not valid yet.
  Result<AcquireAnswer> acquire(const AcquireRequest& request, int cancelled = -1);

  // Keeps what was granted to `request`. `asked_at` is the clock's time from *before* the request was sent;
  // without it (or if the grant is `replayed`), the leases count as valid only after a first renewal, which
  // is made at once.
  //
  // To be called again with the answer of an acquire or upgrade that concerns kept leases. A lease that its
  // owner shortens by itself (Client::renew with a smaller TTL) must be removed first; and an owner that
  // acquires and releases one path at the same time, from two threads, must see to the order itself.
  void add(const AcquireRequest& request, const Granted& granted,
           std::optional<LocalTime> asked_at = std::nullopt);

  // Keeps these no more, nor what only pairing added for them. They are not released: unless somebody does
  // that, they run out. To be called *before* they are released, transferred or given up in another way.
  void remove(const std::vector<LeaseId>& ids);

  // remove(), then Client::release.
  Result<Outcomes> release(const std::vector<LeaseId>& ids);

  // To be asked right before each protected action. False for a lease that is not kept.
  bool is_valid(const LeaseId& id) const;
  Duration time_left(const LeaseId& id) const;  // 0: not valid.

  // The token to act on `path` with, now: that of a valid lease on it, or on a subtree above it, which is
  // exclusive, or at least shared if that is `needed`.
  // Errors: lost (such a lease is kept, but not valid now), not_found (none is).
  Result<Token> use(const std::string& path, Mode needed = Mode::exclusive) const;

  // Everything that is kept, valid or not, as last heard of.
  std::vector<Lease> kept() const;

  // Ends the renewals. The leases stay what they are, and run out unless released; is_valid() goes on to
  // tell.
  //
  // Waits for an on_event that is running, and for a call that is under way, but for that no longer than
  // `stop_grace`: then the thread that hangs in it is left alone, and touches nothing but what it shares. No
  // event is told after stop() returned, unless on_event itself called it: then none follows that one.
  // May be called again.
  void stop();

 private:
  struct Shared;
  explicit Keeper(std::shared_ptr<Shared> shared);
  Result<void> start_threads();

  std::shared_ptr<Shared> shared_;
  std::mutex stop_mutex_;  // Guards the joining of the threads.
  std::thread caller_;     // Makes the calls.
  std::thread teller_;     // Watches the deadlines and tells the events.
};

}  // namespace leasehold
