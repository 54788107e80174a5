// How a request waits: asleep until its bell rings or somebody in its way may have run out, and never for
// good because of one bad answer.
#include "manager/waiter.h"

#include <poll.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "env/liveness.h"
#include "manager/lease_manager.h"
#include "manager/logging.h"
#include "model/may_pass.h"
#include "util/short_slice.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// A bell can be lost with the machine that should have rung it; a waiter looks again by itself. Each look
// reads the whole queue, so who stands far behind does it less often: those in front look for it. But it has
// to show that it lives, within the time a policy gives it (waiter_silence).
constexpr Duration kSafetyPoll = 1s;
constexpr Duration kSafetyPollBehind = 10s;
constexpr std::size_t kInFront = 10;
constexpr int kUnseenMost = 2;

Duration safety_poll(std::size_t position) {
  return std::clamp(kSafetyPoll * static_cast<std::int64_t>(position / kInFront), kSafetyPoll,
                    kSafetyPollBehind);
}

// Up to a half sooner: who came together must not look together for ever after.
Duration out_of_step(Duration pause, Random& random) {
  const auto half = static_cast<std::uint64_t>(pause.count() / 2);
  return pause - Duration(static_cast<std::int64_t>(random.next() % (half + 1)));
}

// It is for these to notice at once that somebody in the way is over: a thousand would all see the same.
bool is_in_front(const Queued& queued) { return queued.position <= kInFront; }

// A store that is restarted or busy is back soon; asking more often would only keep it busy.
constexpr Duration kRetryPause = 200ms;

// How long a waiter may sleep: until somebody in its way may run out, or its own time is up.
Duration time_to_next_look(const Queued& queued, Random& random) {
  Time next = queued.wait_until;
  for (const Blocked& blocked : queued.blocked) {
    if (is_in_front(queued) && blocked.expires_at > queued.at) next = std::min(next, blocked.expires_at);
  }
  return std::clamp(std::chrono::ceil<Duration>(next - queued.at), Duration(1),
                    out_of_step(safety_poll(queued.position), random));
}

// Enough to see who dies; should there be more, the safety poll finds out.
constexpr std::size_t kWatchedMax = 32;

bool may_help_to_try_again(const AcquireRequest& request, const Result<AcquireAnswer>& answer) {
  if (answer) {
    const auto* refused = std::get_if<Refused>(&answer->decision);
    return refused != nullptr && refused->code == Code::busy;
  }
  const Code code = answer.error().code;
  // Whoever may have got a place in the queue must not ask for another.
  if (code == Code::outcome_unknown) return !request.wait;
  return code == Code::unavailable || code == Code::transaction_conflict;
}

std::vector<std::shared_ptr<const Descriptor>> watch(LivenessProbe& liveness,
                                                     const std::vector<Blocked>& blocked) {
  std::set<Process> processes;
  for (const Blocked& one : blocked) {
    if (one.holder.process && processes.size() < kWatchedMax) processes.insert(*one.holder.process);
  }
  std::vector<std::shared_ptr<const Descriptor>> watched;
  for (const Process& process : processes) {
    if (auto ended = liveness.watch(process)) watched.push_back(std::move(ended));
  }
  return watched;
}

}  // namespace

Waiter::Waiter(LeaseManager& manager, AcquireRequest request, Until until)
    : manager_(manager), request_(std::move(request)), until_(until) {}

Waiter::Waiter(LeaseManager& manager, Caller caller, GroupId ticket)
    : manager_(manager), until_(Until::decided), ticket_(std::move(ticket)), queued_(true) {
  request_.caller = std::move(caller);
}

void Waiter::note_standing() {
  before_ = {.attempts = attempts_, .counted = counted_, .queued = queued_, .told = told_.size()};
}

void Waiter::look() {
  note_standing();
  if (queued_) {
    if (!bell_) {
      if (auto heard = listen(); !heard) return wait_on(fail(heard.error()));
    }
    const bool rang = has_rung(*bell_);
    if (!rang && waits_on()) return;
    unseen_ = 0;
    auto answer = manager_.poll(request_.caller, ticket_);
    if (!answer && answer.error().code == Code::not_found && may_queue_again()) return attempt();
    wait_on(std::move(answer));
    if (rang && hears_bell_ && !answer_) listen_anew();
  } else if (attempts_ == 0) {
    begin();
  } else {
    attempt();
  }
}

// The store lost its data: who waited before that wants it still, for the rest of its time.
bool Waiter::may_queue_again() {
  if (request_.paths.empty() || !patience_) return false;
  const auto left = std::chrono::floor<Duration>(*patience_ - std::chrono::steady_clock::now());
  if (left <= Duration::zero()) return false;
  request_.wait = left;
  queued_ = false;
  return true;
}

bool has_rung(const Bell& bell) {
  pollfd rung = {bell.fd(), POLLIN, 0};
  return ::poll(&rung, 1, 0) > 0;
}

// Whoever stands far behind shows most of the times only that it is there: to look reads the whole queue.
// (Who was rung has got it, and is not to write first.)
bool Waiter::waits_on() {
  if (is_in_front(last_) || unseen_ == kUnseenMost) return false;
  if (!manager_.waits_on(request_.caller, ticket_)) return false;
  ++unseen_;
  hears_bell_ = true;
  const auto left = std::chrono::ceil<Duration>(*patience_ - std::chrono::steady_clock::now());
  pause_ = std::clamp(out_of_step(safety_poll(last_.position), manager_.environment_.random), Duration(1),
                      std::max(left, Duration(1)));
  return true;
}

void Waiter::glance() {
  if (!queued_) return;
  if (auto granted = manager_.glance(request_.caller, ticket_)) wait_on(*std::move(granted));
}

void Waiter::begin() {
  if (const auto policy = manager_.policy();
      until_ != Until::queued && !request_.wait && policy->waiting_allowed) {
    request_.wait = policy->wait_max;
  }
  if (auto refused = manager_.refused_by_room(request_)) return finish(std::move(*refused));
  ticket_ = manager_.new_group();
  if (until_ == Until::decided && request_.wait) {
    if (const auto& self = manager_.options_.own_process; self && !request_.waiter) request_.waiter = self();
    // Opened before the ticket exists, so that no ring is missed.
    if (auto heard = listen(); !heard) return finish(fail(heard.error()));
  }
  attempt();
}

Result<void> Waiter::listen() {
  auto bell = manager_.store_.listen(manager_.workspace_, ticket_);
  if (!bell) return fail(bell.error());
  bell_ = std::move(*bell);
  return {};
}

// It was rung before it looked, and waits all the same: a store rings when it could not listen for a while. A
// bell stays rung, and whoever sleeps on that one would look without a pause.
void Waiter::listen_anew() {
  bell_.reset();
  hears_bell_ = listen() && !has_rung(*bell_);
  if (hears_bell_) pause_ = Duration::zero();  // It may have rung in between.
}

// As often as the profile says, as long as trying again may help.
void Waiter::attempt() {
  const auto policy = manager_.policy();
  auto answer = manager_.attempt(request_, ticket_, counted_);
  if (++attempts_ < policy->attempts && may_help_to_try_again(request_, answer)) {
    counted_ = counted_ || answer || answer.error().code == Code::outcome_unknown;
    if (answer) std::ranges::move(answer->notices, std::back_inserter(told_));
    pause_ = policy->attempt_pause;
    return;
  }
  if (!answer && policy->session_locks)
    answer = fail(manager_.as_lock_error(request_, ticket_, answer.error()));
  log_acquire(manager_.options_.log, request_, answer);
  manager_.clean_up_if_due();
  settle(std::move(answer));
}

void Waiter::settle(Result<AcquireAnswer> answer) {
  const auto* queued = answer ? std::get_if<Queued>(&answer->decision) : nullptr;
  if (queued == nullptr || until_ != Until::decided) return finish(std::move(answer));
  queued_ = true;
  replays_ = queued->replayed;
  began_ = std::chrono::steady_clock::now();
  if (queued->ticket == ticket_) return wait_on(std::move(answer));
  // It waited before, by an earlier try under the same idempotency key.
  ticket_ = queued->ticket;
  if (auto heard = listen(); !heard) return finish(fail(heard.error()));
  wait_on(std::move(answer));
  pause_ = Duration::zero();  // It may have rung before anybody listened.
}

void Waiter::wait_on(Result<AcquireAnswer> answer) {
  // A bell that has rung stays rung: listening to it after an error would ask without pause.
  hears_bell_ = answer.has_value();
  watched_.clear();
  pause_ = kRetryPause;
  if (answer) {
    std::ranges::move(answer->notices, std::back_inserter(told_));
    const auto* queued = std::get_if<Queued>(&answer->decision);
    if (queued == nullptr) return finish(AcquireAnswer{std::move(answer->decision), {}});
    // The store's clock cannot be asked when it does not answer, so this is measured here.
    patience_ = std::chrono::steady_clock::now() + (queued->wait_until - queued->at);
    pause_ = time_to_next_look(*queued, manager_.environment_.random);
    last_ = *queued;
    if (is_in_front(*queued)) watched_ = watch(manager_.environment_.liveness, queued->blocked);
  } else if (!may_pass(answer.error().code) || !patience_) {
    finish(std::move(answer));
  } else if (std::chrono::steady_clock::now() >= *patience_) {
    // Perhaps the store hears this. Else the wait ends there by its time.
    std::ignore = manager_.cancel(request_.caller, ticket_);
    finish(std::move(answer));
  }
}

void Waiter::finish(Result<AcquireAnswer> answer) {
  answer_ = std::move(answer);
  if (*answer_) {
    std::ranges::move((*answer_)->notices, std::back_inserter(told_));
    (*answer_)->notices = std::exchange(told_, {});
    // How long it waited says nothing of when this call began.
    if (auto* granted = std::get_if<Granted>(&(*answer_)->decision)) granted->replayed |= replays_;
  }
  watched_.clear();
  if (queued_ && began_ != std::chrono::steady_clock::time_point())
    waited_ = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began_);
}

void Waiter::give_up() {
  note_standing();
  Duration waited{};
  if (queued_) {
    if (auto gave_up = manager_.cancel(request_.caller, ticket_); !gave_up)
      return finish(fail(gave_up.error()));
    waited = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began_);
  } else if (attempts_ > 0) {
    // One whose answer was lost may have been granted.
    if (auto gave_up = manager_.take_back(request_, ticket_); !gave_up) return finish(fail(gave_up.error()));
  }
  finish(AcquireAnswer{Refused{Code::lost, "The wait was cancelled. Nothing is held or queued.", {}, waited},
                       {}});
}

void Waiter::undo() {
  // What an earlier look was told is the store's no more.
  if (answer_ && *answer_ && told_.empty()) told_ = std::move((*answer_)->notices);
  answer_.reset();
  attempts_ = before_.attempts;
  counted_ = before_.counted;
  queued_ = before_.queued;
  told_.resize(std::min(before_.told, told_.size()));
}

Waiter::Pause Waiter::pause() const {
  Pause pause = {.fds = {}, .at_most = pause_};
  for (const auto& process : watched_) pause.fds.push_back(process->number());
  if (hears_bell_ && bell_) pause.fds.push_back(bell_->fd());
  return pause;
}

bool sleep_on(const Waiter::Pause& pause, int cancelled) {
  std::vector<pollfd> fds = {{cancelled, POLLIN, 0}};  // A negative one is passed over.
  for (const int fd : pause.fds) fds.push_back({fd, POLLIN, 0});
  poll(fds.data(), fds.size(),
       static_cast<int>(std::clamp<std::int64_t>(pause.at_most.count(), 0, 1'000'000)));
  return fds.front().revents != 0;
}

Result<AcquireAnswer> run_to_end(Waiter& waiter, int cancelled) {
  std::optional<ShortSlice> waits;
  for (;;) {
    waiter.look();
    if (waiter.answer()) return waiter.take_answer();
    if (!waits) waits.emplace();
    if (!sleep_on(waiter.pause(), cancelled)) continue;
    waiter.give_up();
    return waiter.take_answer();
  }
}

Result<AcquireAnswer> LeaseManager::acquire(const AcquireRequest& request) {
  Waiter waiter(*this, request, Waiter::Until::queued);
  return run_to_end(waiter, -1);
}

Result<AcquireAnswer> LeaseManager::acquire_and_wait(const AcquireRequest& request, int cancelled) {
  Waiter waiter(*this, request, Waiter::Until::decided);
  return run_to_end(waiter, cancelled);
}

}  // namespace leasehold
