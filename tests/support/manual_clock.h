#pragma once

#include <atomic>
#include <chrono>

#include "store/clock.h"

namespace leasehold {

// A clock that stands still until a test moves it. Thread-safe.
class ManualClock final : public StoreClock {
 public:
  static constexpr Time kStart{std::chrono::seconds(1000)};
  static constexpr WallTime kWallStart{std::chrono::sys_days(std::chrono::January / 1 / 2026)};

  Time now() const override { return Time(Time::duration(now_.load())); }
  WallTime wall() const override { return WallTime(WallTime::duration(wall_.load())); }

  // Time passes, on both clocks. In whole microseconds, which is as fine as the wall's are.
  void advance(std::chrono::microseconds by) {
    now_ += Time::duration(by).count();
    wall_ += by.count();
  }

  // Somebody sets the wall clock, forward or back; no time passes.
  void step_wall(std::chrono::microseconds by) { wall_ += by.count(); }

 private:
  std::atomic<Time::rep> now_ = kStart.time_since_epoch().count();
  std::atomic<WallTime::rep> wall_ = kWallStart.time_since_epoch().count();
};

}  // namespace leasehold
