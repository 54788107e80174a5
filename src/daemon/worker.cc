#include "daemon/worker.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace leasehold::daemon {
namespace {

// Other processes may write to the same store, and wait for as long as a batch takes.
constexpr std::size_t kBatchMost = 256;

bool is_kept(const Result<void>& committed) {
  return committed || committed.error().code == Code::outcome_unknown;
}

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

Result<void> Worker::commit(const std::vector<Job>& batch) {
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
  if (options_.end) options_.end(is_kept(committed));
  return committed;
}

void Worker::take_back(const std::vector<Job>& batch) {
  for (const Job& job : batch) {
    if (job.undo) job.undo();
  }
}

void Worker::report(std::size_t jobs, std::chrono::steady_clock::time_point began) const {
  if (options_.report) options_.report(jobs, std::chrono::steady_clock::now() - began);
}

void Worker::run(std::vector<Job> batch) {
  const auto began = std::chrono::steady_clock::now();
  Result<void> committed = commit(batch);
  if (!committed && committed.error().code == Code::transaction_conflict) {
    take_back(batch);
    committed = commit(batch);
  }
  if (is_kept(committed)) {
    report(batch.size(), began);
  } else {
    // One of them could not be done, and took the others with it: so each by itself, and as one who is not
    // in a group: each then learns from its own commit. On a full disk the store makes room for who gives
    // back.
    take_back(batch);
    for (const Job& job : batch) {
      const auto began_alone = std::chrono::steady_clock::now();
      if (options_.begin) options_.begin();
      job.call();
      if (options_.end) options_.end(true);
      report(1, began_alone);
    }
    committed = {};
  }
  options_.answer_by(
      [batch = std::make_shared<std::vector<Job>>(std::move(batch)), committed = std::move(committed)] {
        for (Job& job : *batch) job.done(committed);
      });
}

}  // namespace leasehold::daemon
