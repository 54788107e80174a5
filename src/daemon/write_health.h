// Whether the store takes writes, which reading does not tell: a full disk and a folder that was replaced can
// still be read.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "leasehold/error.h"
#include "leasehold/log.h"
#include "leasehold/result.h"
#include "store/store.h"

namespace leasehold::daemon {

// Any write that the store refuses makes it ill, and it is said once. Only a write made to find out makes it
// well again: giving back may succeed where nothing else does, and many transactions write nothing. Where
// something is corrupt, it may be one record of one workspace: that has to be found out as well.
// Thread-safe.
class WriteHealth {
 public:
  using Say = std::function<void(LogLevel, const std::string&)>;
  explicit WriteHealth(Say say) : say_(std::move(say)) {}

  // How a transaction ended. What its body decided says nothing about the store.
  void note(const Result<void>& done);

  // Why writes fail; nothing: as far as is known, they do not.
  std::optional<Error> failure() const;

  // Whether to find out again: nobody does so, and that all is well is not known from just now. Then
  // end_probe() follows, with what became of a write.
  bool begin_probe();
  void end_probe(const Result<void>& written);

 private:
  using Clock = std::chrono::steady_clock;

  void become_ill(const Error& why);

  const Say say_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::optional<Error> failure_;
  Clock::time_point failing_since_;
  std::uint64_t failures_ = 0;
  std::uint64_t failures_before_probe_ = 0;
  std::optional<Clock::time_point> probed_;
  bool probing_ = false;
};

// Passes every call on, and notes how transactions end. In a group that was not kept they have not: each is
// made again.
class WatchedStore final : public Store {
 public:
  WatchedStore(Store& store, WriteHealth& health) : store_(store), health_(health) {}

  Result<void> transact(const Footprint& footprint, const Body& body) override;
  Result<void> view(const Footprint& footprint, const Look& body) override {
    return store_.view(footprint, body);
  }
  Result<void> together(const std::function<void()>& calls) override;
  Result<std::unique_ptr<Bell>> listen(const std::string& workspace, const GroupId& ticket) override {
    return store_.listen(workspace, ticket);
  }
  Result<std::vector<Defect>> examine(const std::string& workspace, bool repair) override {
    return store_.examine(workspace, repair);
  }

 private:
  Store& store_;
  WriteHealth& health_;
  static thread_local std::vector<Result<void>>* group_;  // What this thread's were told.
};

}  // namespace leasehold::daemon
