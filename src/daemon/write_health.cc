#include "daemon/write_health.h"

#include <fmt/format.h>

namespace leasehold::daemon {
namespace {

using namespace std::chrono_literals;

// Everybody may ask whether we are ready, and each time may cost a sync of the disk.
constexpr auto kFresh = 5s;

bool is_of_the_store(Code code) { return code == Code::unavailable || code == Code::outcome_unknown; }

}  // namespace

void WriteHealth::note(const Result<void>& done) {
  if (done) return;
  if (is_of_the_store(done.error().code)) {
    become_ill(done.error());
  } else if (done.error().code == Code::corrupt) {
    const std::lock_guard lock(mutex_);
    probed_.reset();
  }
}

void WriteHealth::become_ill(const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    ++failures_;
    if (failure_) return;
    failure_ = why;
    failing_since_ = Clock::now();
  }
  say_(LogLevel::warning, "the store takes no writes, and /readyz says so: " + why.message);
}

std::optional<Error> WriteHealth::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

bool WriteHealth::begin_probe() {
  const std::lock_guard lock(mutex_);
  if (probing_ || (!failure_ && probed_ && Clock::now() - *probed_ < kFresh)) return false;
  probing_ = true;
  failures_before_probe_ = failures_;
  return true;
}

void WriteHealth::end_probe(const Result<void>& written) {
  if (!written) become_ill(written.error());
  std::chrono::seconds failed_for{};
  {
    const std::lock_guard lock(mutex_);
    probing_ = false;
    probed_ = Clock::now();
    if (!written || !failure_ || failures_ != failures_before_probe_) return;
    failed_for = std::chrono::ceil<std::chrono::seconds>(*probed_ - failing_since_);
    failure_.reset();
  }
  say_(LogLevel::info, fmt::format("the store takes writes again, after {} s", failed_for.count()));
}

thread_local std::vector<Result<void>>* WatchedStore::group_ = nullptr;

Result<void> WatchedStore::transact(const Footprint& footprint, const Body& body) {
  auto done = store_.transact(footprint, body);
  if (group_ == nullptr) {
    health_.note(done);
  } else if (!done) {
    group_->push_back(done);
  }
  return done;
}

Result<void> WatchedStore::together(const std::function<void()>& calls) {
  std::vector<Result<void>> told;
  group_ = &told;
  auto done = store_.together(calls);
  group_ = nullptr;
  if (!done && done.error().code != Code::outcome_unknown) return done;
  health_.note(done);
  for (const Result<void>& one : told) health_.note(one);
  return done;
}

}  // namespace leasehold::daemon
