// Threads that ask the store, so that the loop of events never waits for a disk or a network.
//
// Where a store can commit the calls of many as one (Store::together), one thread takes all that is queued,
// makes one commit of it, and only then are they answered: while the disk syncs, the next ones gather.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold::daemon {

struct Job {
  // May run twice: again from the beginning if what it wrote was not kept.
  std::function<void()> call;
  // Before it runs again, takes back what the first run changed here. May be empty.
  std::function<void()> undo = {};
  // What became of it; called in a batch with others, by whatever `answer_by` does. An error: nothing that
  // `call` learnt is to be believed.
  std::move_only_function<void(const Result<void>& committed)> done;
};

// Thread-safe.
class Worker {
 public:
  struct Options {
    std::size_t threads = 1;
    bool together = true;  // False: each call of the store commits by itself, as it is made.
    // Takes what is to be called on the loop's thread.
    std::function<void(std::function<void()>)> answer_by;
    // Called by the worker's threads around a batch: begin, then kept or dropped. May be empty.
    std::function<void()> begin = {};
    std::function<void(bool kept)> end = {};
    std::function<void(std::size_t jobs, std::chrono::nanoseconds took)> report = {};
  };
  Worker(Store& store, Options options);
  // Does what is queued first.
  ~Worker() { finish(); }

  void submit(Job job);
  // Does what is queued, and nothing after that.
  void finish();

 private:
  void work();
  void run(std::vector<Job> batch);
  Result<void> commit(const std::vector<Job>& batch);
  static void take_back(const std::vector<Job>& batch);
  void report(std::size_t jobs, std::chrono::steady_clock::time_point began) const;

  Store& store_;
  const Options options_;
  std::mutex mutex_;  // Guards what follows.
  std::condition_variable queued_;
  std::vector<Job> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace leasehold::daemon
