#include "store/redis/bells.h"

#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

#include "store/nudged_bell.h"
#include "store/redis/keys.h"
#include "util/short_slice.h"

namespace leasehold::redis {
namespace {

using namespace std::chrono_literals;

constexpr auto kPauseBetweenTries = 100ms;

}  // namespace

void Bells::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  nudge_thread();
  if (thread_.joinable()) thread_.join();
}

void Bells::nudge_thread() {
  if (wakeup_) wakeup_->give();
}

// Under the mutex.
Result<void> Bells::start() {
  if (running_) return {};
  wakeup_.emplace();
  if (!wakeup_->is_open()) {
    return fail(Code::unavailable,
                fmt::format("Cannot wait for a bell: {}. Close some files, or ask without --wait.",
                            std::strerror(errno)));
  }
  auto connection = pool_.connect();
  if (!connection) return fail(connection.error());
  connection_ = std::move(*connection);
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error& error) {
    return fail(Code::unavailable,
                fmt::format("Cannot wait for a bell: {}. Ask without --wait.", error.what()));
  }
  running_ = true;
  return {};
}

Result<std::unique_ptr<Bell>> Bells::listen(const GroupId& ticket) {
  const std::string channel = bell_channel(ticket);
  auto bell =
      open_bell([self = shared_from_this(), name = channel](Nudge& nudge) { self->close(name, nudge); });
  if (!bell) return bell;
  std::unique_lock lock(mutex_);
  if (auto started = start(); !started) return fail(started.error());
  listeners_[channel].insert((*bell)->nudge());
  to_close_.erase(channel);
  refusal_.reset();
  if (!heard_.contains(channel)) {
    to_open_.insert(channel);
    nudge_thread();
  }
  const bool told = confirmed_.wait_for(lock, timeout_, [&] { return refusal_ || heard_.contains(channel); });
  if (told && !refusal_) return bell;
  if (refusal_) return fail(*refusal_);
  return fail(Code::unavailable,
              fmt::format("Redis at {} does not confirm that it will wake a waiter. Ask again when "
                          "it is back.",
                          pool_.address().shown()));
}

void Bells::close(const std::string& channel, const Nudge& nudge) {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(channel);
  if (found == listeners_.end()) return;
  std::erase_if(found->second, [&](const auto& other) { return other.get() == &nudge; });
  if (!found->second.empty()) return;
  listeners_.erase(found);
  if (!stopping_) rings_.forget(ticket_of_bell(channel));
  to_open_.erase(channel);
  to_close_.insert(channel);
  nudge_thread();
}

void Bells::serve() {
  const ShortSlice wakes_others;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    try {
      if (connection_ == nullptr && !connect_again()) continue;
      exchange_once();
    } catch (const Failure&) {
      connection_.reset();
    }
  }
}

// A new connection has to be told of every channel again.
bool Bells::connect_again() {
  auto connection = pool_.connect();
  {
    const std::lock_guard lock(mutex_);
    heard_.clear();
    for (const auto& [channel, nudges] : listeners_) to_open_.insert(channel);
  }
  if (connection) {
    connection_ = std::move(*connection);
    return true;
  }
  wakeup_->wait(kPauseBetweenTries);
  wakeup_->take();
  return false;
}

// Sends what is to be sent, waits, and hears what has come.
void Bells::exchange_once() {
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& channel : to_open_) connection_->add({"SUBSCRIBE", channel});
    for (const std::string& channel : to_close_) {
      connection_->add({"UNSUBSCRIBE", channel});
      heard_.erase(channel);
    }
    to_open_.clear();
    to_close_.clear();
  }
  if (connection_->pending() > 0) connection_->send();
  hear();
  pollfd waiting[] = {{connection_->fd(), POLLIN, 0}, {wakeup_->fd(), POLLIN, 0}};
  poll(waiting, 2, -1);
  wakeup_->take();
}

void Bells::hear() {
  // Also if the connection ends behind what it told. Not under the mutex: whom it wakes goes first, and needs
  // that to close its bell.
  struct Rung {
    std::vector<std::shared_ptr<Nudge>> nudges;
    ~Rung() {
      if (nudges.empty()) return;
      for (const auto& nudge : nudges) nudge->give();
      std::this_thread::yield();
    }
  } rung;
  while (auto message = connection_->take()) take_in(message->view(), rung.nudges);
}

void Bells::take_in(ReplyView message, std::vector<std::shared_ptr<Nudge>>& rung) {
  const std::lock_guard lock(mutex_);
  if (message.is_error()) {
    refusal_ = error_of(message.text(), pool_.address(), "Waiting");
    confirmed_.notify_all();
    return;
  }
  const std::string_view kind = message[0].text();
  const std::string channel(message[1].text());
  if (kind == "subscribe") {
    heard_.insert(channel);
    confirmed_.notify_all();
  } else if (kind == "unsubscribe") {
    // It may have been confirmed when nobody wanted it any more, and been taken for heard by the next one.
    heard_.erase(channel);
    if (!listeners_.contains(channel)) return;
    to_open_.insert(channel);
    nudge_thread();
  } else if (kind == "message") {
    const auto found = listeners_.find(channel);
    if (found == listeners_.end()) return;
    rings_.note(ticket_of_bell(channel), std::string(message[2].text()));
    rung.insert(rung.end(), found->second.begin(), found->second.end());
  }
}

}  // namespace leasehold::redis
