#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "mcp/tool.h"

namespace leasehold::mcp {

// Reports once a second, for as long as it exists, that a call still waits.
class Progress {
 public:
  Progress(const ToolCall& call, Duration total) {
    if (!call.progress) return;
    thread_ = std::jthread([this, &call, total](const std::stop_token& stop) {
      const std::chrono::duration<double> all = total;
      std::unique_lock lock(mutex_);
      for (int seconds = 1; !woken_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
           ++seconds) {
        if (stop.stop_requested()) return;
        call.progress(seconds, all.count());
      }
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;  // Last: it ends before what it waits on.
};

}  // namespace leasehold::mcp
