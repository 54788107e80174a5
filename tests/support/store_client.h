// One process's way to leases in a store of a real server, in real time.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "env/system_random.h"
#include "manager/lease_manager.h"
#include "support/eventually.h"
#include "support/records.h"

namespace leasehold {

using namespace std::chrono_literals;

struct StoreClient {
  // Ends the test program if there is no store.
  explicit StoreClient(Result<std::unique_ptr<Store>> opened) {
    if (!opened) {
      ADD_FAILURE() << testing::PrintToString(opened.error());
      std::abort();
    }
    store = std::move(*opened);
    use_policy({});
  }

  void use_policy(const Policy& policy) {
    manager = std::make_unique<LeaseManager>(Environment{liveness, random}, *store, kWorkspace, policy);
  }

  Result<AcquireAnswer> acquire(const Owner& owner, const std::string& path, Duration ttl = 5min) {
    return manager->acquire(request(owner, path, ttl));
  }

  static AcquireRequest request(const Owner& owner, const std::string& path, Duration ttl = 5min) {
    return {.caller = {{.owner = owner}}, .paths = {{.path = path}}, .ttl = ttl};
  }

  // The lease, or a failure of the test and an empty one.
  Lease must_acquire(const Owner& owner, const std::string& path, Duration ttl = 5min) {
    const auto answer = acquire(owner, path, ttl);
    if (answer) {
      if (const auto* granted = std::get_if<Granted>(&answer->decision)) return granted->leases.front();
      ADD_FAILURE() << "refused: " << std::get<Refused>(answer->decision).message;
    } else {
      ADD_FAILURE() << testing::PrintToString(answer.error());
    }
    return {};
  }

  Result<Outcomes> release(const Owner& owner, const std::string& path) {
    return manager->release({.caller = {{.owner = owner}}, .which = {.paths = {path}}});
  }

  // How many requests wait.
  std::size_t waiting() {
    std::size_t count = 0;
    const auto looked = store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
      count = view.tickets({}).size();
      return {};
    });
    return looked ? count : 0;
  }

  // Sweeps. True: nobody holds, and nobody waits.
  bool is_quiet() {
    (void)manager->sweep(true);
    bool quiet = false;
    (void)store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
      quiet = view.leases({}).empty() && view.tickets({}).empty();
      return {};
    });
    return quiet;
  }

  std::vector<Event> history() {
    std::vector<Event> events;
    const auto found = manager->history({});
    if (found) events = *found;
    return events;
  }

 private:
  class NoProbe final : public LivenessProbe {
   public:
    Verdict look_at(const Process&) override { return {}; }
  };

  NoProbe liveness;
  SystemRandom random;

 public:
  std::unique_ptr<Store> store;
  std::unique_ptr<LeaseManager> manager;
};

// What became of an acquire, in a word: granted, the code of a refusal, or that of an error.
inline std::string word_for(const Result<AcquireAnswer>& answer) {
  if (!answer) return std::string(info(answer.error().code).name);
  if (const auto* refused = std::get_if<Refused>(&answer->decision))
    return std::string(info(refused->code).name);
  return std::holds_alternative<Granted>(answer->decision) ? "granted" : "queued";
}

}  // namespace leasehold
