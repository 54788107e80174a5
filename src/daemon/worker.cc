#include "daemon/worker.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace leasehold::daemon {
namespace {

// Other processes may write to the same store, and wait for as long as a batch takes.
constexpr std::size_t kBatchMost = 256;

}  // namespace

Worker::Worker(Store& store, Options options) : store_(store), options_(std::move(options)) {
  for (std::size_t i = 0; i < std::max<std::size_t>(options_.threads, 1); ++i)
    threads_.emplace_back([this] { work(); });
}

void Worker::finish() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  queued_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Worker::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(job));
  }
  queued_.notify_one();
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    queued_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::size_t count = options_.together ? std::min(queue_.size(), kBatchMost) : 1;
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<Job> batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
    queue_.erase(queue_.begin(), end);
    lock.unlock();
    run(std::move(batch));
    lock.lock();
  }
}

void Worker::run(std::vector<Job> batch) {
  const auto began = std::chrono::steady_clock::now();
  if (options_.begin) options_.begin();
  const auto calls = [&] {
    for (const Job& job : batch) job.call();
  };
  Result<void> committed;
  if (options_.together) {
    committed = store_.together(calls);
  } else {
    calls();
  }
  const bool kept = committed || committed.error().code == Code::outcome_unknown;
  if (options_.end) options_.end(kept);
  if (!kept) {
    // One of them could not be done, and took the others with it: so each by itself, and as one who is not
    // in a group: each then learns from its own commit. On a full disk the store makes room for who gives
    // back.
    for (const Job& job : batch) {
      if (options_.begin) options_.begin();
      if (job.undo) job.undo();
      job.call();
      if (options_.end) options_.end(true);
    }
    committed = {};
  }
  if (options_.report) options_.report(batch.size(), std::chrono::steady_clock::now() - began);
  options_.answer_by(
      [batch = std::make_shared<std::vector<Job>>(std::move(batch)), committed = std::move(committed)] {
        for (Job& job : *batch) job.done(committed);
      });
}

}  // namespace leasehold::daemon
