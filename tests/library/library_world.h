// A lease manager on each store, with a clock that is moved by hand.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/small_world.h"
#include "support/stores.h"

namespace leasehold {

class Library : public testing::TestWithParam<StoreFactory> {
 protected:
  void SetUp() override {
    if (!GetParam().missing.empty()) GTEST_SKIP() << GetParam().missing;
    site_ = GetParam().make(clock);
    manager_ = open();
  }

  // One more on the same data, as another process would have. The store goes with it.
  std::shared_ptr<LeaseManager> open(const Policy& policy = {}, ManagerOptions options = {}) {
    struct Parts {
      std::unique_ptr<Store> store;
      std::optional<LeaseManager> manager;
    };
    auto parts = std::make_shared<Parts>();
    parts->store = site_->open();
    parts->manager.emplace(Environment{probe, random}, *parts->store, kWorkspace, policy, std::move(options));
    return {parts, &*parts->manager};
  }

  std::unique_ptr<Store> open_store() { return site_->open(); }

  Client& client() { return *manager_; }

  Lease granted(const Result<AcquireAnswer>& answer) {
    const auto* granted = answer ? std::get_if<Granted>(&answer->decision) : nullptr;
    EXPECT_NE(granted, nullptr);
    return granted == nullptr ? Lease{} : granted->leases.front();
  }
  Lease acquire(const Owner& owner, const char* path) {
    return granted(client().acquire(asking(owner, {path})));
  }

  static const Refused* refused(const Result<AcquireAnswer>& answer) {
    return answer ? std::get_if<Refused>(&answer->decision) : nullptr;
  }
  static Selection by_id(const Lease& lease) {
    Selection which;
    which.ids = {lease.id};
    return which;
  }
  Outcome renew(const Owner& owner, const Lease& lease, std::optional<Duration> ttl = {}) {
    const auto answer = client().renew({.caller = caller(owner), .which = by_id(lease), .ttl = ttl});
    EXPECT_TRUE(answer);
    return answer ? answer->outcomes.at(0) : Outcome{};
  }
  Outcome release(const Owner& owner, const Lease& lease) {
    const auto answer = client().release({.caller = caller(owner), .which = by_id(lease)});
    EXPECT_TRUE(answer);
    return answer ? answer->outcomes.at(0) : Outcome{};
  }
  std::vector<std::string> history_of(const std::string& path) {
    std::vector<std::string> words;
    const auto events = client().history({.path = path});
    EXPECT_TRUE(events);
    for (const Event& event : *events) words.emplace_back(word(event.type));
    return words;
  }

  ManualClock clock;
  ToldProbe probe;
  SeededRandom random;

 private:
  std::unique_ptr<StoreSite> site_;
  std::shared_ptr<LeaseManager> manager_;
};

inline std::string store_of(const testing::TestParamInfo<StoreFactory>& info) { return info.param.name; }

}  // namespace leasehold
