#include "store/etcd/bells.h"

#include <fmt/format.h>

#include "store/etcd/failure.h"
#include "store/etcd/keys.h"
#include "store/etcd/ticket_end.h"
#include "store/nudged_bell.h"
#include "util/short_slice.h"

namespace leasehold::etcd {
namespace {

using namespace std::chrono_literals;

constexpr auto kPauseBetweenTries = 100ms;

// Watches that etcd keeps though nobody needs them.
constexpr std::size_t kClosedMax = 16;

}  // namespace

void Bells::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (context_ != nullptr) context_->TryCancel();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

// Under the mutex.
void Bells::ask_to_watch(std::int64_t watch, const std::string& key) {
  if (stream_ == nullptr) return;  // Asked for when there is one.
  pb::WatchRequest request;
  pb::WatchCreateRequest& create = *request.mutable_create_request();
  create.set_key(key);
  create.set_watch_id(watch);
  create.add_filters(pb::WatchCreateRequest::NODELETE);
  stream_->Write(request);  // If it cannot be written reading fails too, and all begins anew.
}

Result<std::unique_ptr<Bell>> Bells::listen(const std::string& workspace, const GroupId& ticket) {
  const std::int64_t watch = ++last_watch_;
  auto bell = open_bell([self = shared_from_this(), watch](Nudge&) { self->close(watch); });
  if (!bell) return bell;
  std::unique_lock lock(mutex_);
  if (!running_) {
    try {
      thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
      return fail(Code::unavailable,
                  fmt::format("Cannot wait for a bell: {}. Ask without --wait.", error.what()));
    }
    running_ = true;
  }
  Listener& listener = listeners_[watch];
  listener = {.ticket = ticket,
              .key = Keys(cluster_.address().prefix, workspace).end_of(ticket),
              .nudge = (*bell)->nudge()};
  ask_to_watch(watch, listener.key);
  cancel_closed();
  const bool confirmed = changed_.wait_for(lock, cluster_.timeout(),
                                           [&] { return stopping_ || listeners_[watch].is_confirmed; });
  if (confirmed) return bell;
  return fail(
      Code::unavailable,
      fmt::format("etcd at {} does not confirm that it will wake a waiter. Ask again when it is back.",
                  cluster_.address().shown()));
}

void Bells::close(std::int64_t watch) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(watch);
  if (found == listeners_.end()) return;  // Nobody came to listen.
  if (!stopping_) rings_.forget(found->second.ticket);
  listeners_.erase(found);
  // Who has just been granted something is not to wait until that is written. Nothing rings there any more.
  closed_.push_back(watch);
  if (closed_.size() >= kClosedMax) cancel_closed();
}

// Under the mutex.
void Bells::cancel_closed() {
  for (const std::int64_t watch : std::exchange(closed_, {})) {
    if (stream_ == nullptr) continue;
    pb::WatchRequest request;
    request.mutable_cancel_request()->set_watch_id(watch);
    stream_->Write(request);
  }
}

void Bells::open_stream(const Member& member, grpc::ClientContext& context) {
  const std::lock_guard lock(mutex_);
  stream_ = member.watch->Watch(&context);
  closed_.clear();
  context_ = &context;
  if (stopping_) context.TryCancel();
  for (auto& [watch, listener] : listeners_) ask_to_watch(watch, listener.key);
}

void Bells::serve() {
  const ShortSlice wakes_others;
  for (bool is_first = true;; is_first = false) {
    if (!is_first) cluster_.pause(kPauseBetweenTries);
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    grpc::ClientContext context;
    const Member* member = nullptr;
    cluster_.prefer_leader();  // It rings first.
    try {
      member = &cluster_.prepare(context);
    } catch (const Failure&) {
      continue;
    }
    open_stream(*member, context);
    pb::WatchResponse message;
    while (stream_->Read(&message)) hear(message);
    stream_->Finish();
    {
      const std::lock_guard lock(mutex_);
      stream_.reset();
      context_ = nullptr;
      if (stopping_) return;
    }
    cluster_.failed(*member);
  }
}

void Bells::hear(const pb::WatchResponse& message) {
  // Not under the mutex: whom it wakes goes first, and needs that to close its bell.
  if (const auto nudge = woken_by(message)) {
    nudge->give();
    std::this_thread::yield();
  }
}

// Of the one who listens, if a message tells of a ring.
std::shared_ptr<Nudge> Bells::woken_by(const pb::WatchResponse& message) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(message.watch_id());
  if (found == listeners_.end()) {
    // One that was never begun: whoever made this stream may watch nothing any more. (Those that are closed
    // have names of ours.)
    if (message.canceled() && message.watch_id() < 0) {
      cluster_.forget_token();
      context_->TryCancel();
    }
    return nullptr;
  }
  Listener& listener = found->second;
  if (message.canceled()) {
    // Compacted, the member has no leader, or it may not be watched: all begins anew, after a pause.
    context_->TryCancel();
  } else if (message.created()) {
    // A second time: it was interrupted, and what was rung meanwhile nobody told.
    if (listener.is_confirmed) listener.nudge->give();
    listener.is_confirmed = true;
    changed_.notify_all();
  }
  for (int i = message.events_size(); i-- > 0;) {
    const pb::KeyValue& kv = message.events(i).kv();
    const std::optional<std::string_view> ring = rung_with(kv.value());
    if (!ring) continue;  // It only ended: who waited gave up, or looks by itself.
    rings_.note(listener.ticket, std::string(*ring), kv.mod_revision());
    return listener.nudge;
  }
  return nullptr;
}

}  // namespace leasehold::etcd
