// One process's way to the store: everything real.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <string>

#include "env/boottime_clock.h"
#include "env/child.h"
#include "env/proc_liveness.h"
#include "env/system_random.h"
#include "manager/lease_manager.h"
#include "store/sqlite/sqlite_store.h"
#include "support/eventually.h"
#include "support/forwarding_store.h"
#include "support/records.h"
#include "support/temp_folder.h"

namespace leasehold::processes {

using namespace std::chrono_literals;

// Counts what this process committed: bells it rang, and waiting requests it granted.
class CountingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    Counts counts;
    auto done = ForwardingStore::transact(footprint, [&](Transaction& transaction) {
      counts = {};
      Noting noting(transaction, counts);
      return body(noting);
    });
    if (!done) return done;
    rings_ += counts.rings;
    granted_.merge(counts.granted);
    return done;
  }

  int rings() const { return rings_; }
  int grants() const { return static_cast<int>(granted_.size()); }

 private:
  struct Counts {
    int rings = 0;
    std::set<GroupId> granted;
  };

  class Noting final : public ForwardingTransaction {
   public:
    Noting(Transaction& target, Counts& counts) : ForwardingTransaction(target), counts_(counts) {}

    using ForwardingTransaction::put;
    void put(const Ticket& ticket) override {
      if (ticket.status == Status::active) counts_.granted.insert(ticket.id);
      ForwardingTransaction::put(ticket);
    }
    void ring(const GroupId& ticket) override {
      ++counts_.rings;
      ForwardingTransaction::ring(ticket);
    }

   private:
    Counts& counts_;
  };

  int rings_ = 0;
  std::set<GroupId> granted_;
};

// To be made in the process that uses it: a store does not survive fork(2).
class Client {
 public:
  explicit Client(const std::string& folder, Duration gate_timeout = 10s)
      : store_(open(folder, gate_timeout)), counting(*store_) {}

  // The store of the same file without the counting.
  Store& store() { return *store_; }

  const Machine machine = read_machine();
  BoottimeClock clock;

 private:
  std::unique_ptr<Store> open(const std::string& folder, Duration gate_timeout) const {
    auto store = open_sqlite_store(
        {.folder = folder, .machine_id = "m", .boot_id = machine.boot_id, .gate_timeout = gate_timeout},
        clock);
    if (!store) std::fprintf(stderr, "%s\n", store.error().message.c_str());
    LEASEHOLD_CHECK(store.has_value());
    return std::move(*store);
  }

  ProcLiveness liveness_{machine};
  SystemRandom random_;
  std::unique_ptr<Store> store_;

 public:
  CountingStore counting;
  // A waiter looks at least once a second, and is given up soon after it does not.
  LeaseManager manager{{liveness_, random_}, counting, kWorkspace, {.waiter_silence = 2s}};
};

// This process, as an owner whose death ends its leases.
inline Caller this_process(const Client& client, const std::string& agent) {
  Caller caller;
  caller.holder.owner = {agent, "session"};
  caller.holder.process = process_with_pid(client.machine, getpid());
  return caller;
}

inline AcquireRequest request(const Caller& caller, const std::vector<std::string>& paths) {
  AcquireRequest request;
  request.caller = caller;
  for (const std::string& path : paths) request.paths.push_back({.path = path});
  return request;
}

inline bool has_ended(const Child& child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child.pid();
}

}  // namespace leasehold::processes
