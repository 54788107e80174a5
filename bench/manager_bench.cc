// What the manager and the engine add to a store, and what a large owner or a late sweeper costs.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "report.h"
#include "site.h"
#include "store/memory/memory_store.h"

namespace leasehold::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kPairs = 4'000;
constexpr int kLeases = 100'000;
constexpr int kPathsAtATime = 1'000;

std::string file_name(const std::string& folder, int number) {
  return fmt::format("/services/{}/src/module/file_{}.ts", folder, number);
}

void must(const Result<void>& done) {
  if (!done) give_up(done.error().message);
}

// The records an acquire and a release of one free file read and write, and no decision about them.
class BareStore {
 public:
  explicit BareStore(Store& store) : store_(store) {}

  void acquire(const Caller& who, const std::string& path) {
    const Scope scope = {path, false};
    must(store_.transact({.workspace = kWorkspaceId, .scopes = {scope}, .owners = {who.holder.owner}},
                         [&](Transaction& transaction) -> Result<void> {
                           if (!transaction.leases_at(scope).empty()) return fail(Code::busy, path);
                           if (!transaction.tickets_at(scope).empty()) return fail(Code::busy, path);
                           if (transaction.lease_count(who.holder.owner) > 200'000)
                             return fail(Code::busy, path);
                           lease_ = new_lease(who, path, transaction);
                           transaction.put(lease_);
                           transaction.append(event(lease_, EventType::acquired, transaction));
                           if (!transaction.notices(who.holder.owner).empty()) return fail(Code::busy, path);
                           return {};
                         }));
  }

  void release(const Caller& who) {
    const Footprint footprint = {
        .workspace = kWorkspaceId, .owners = {who.holder.owner}, .leases = {lease_.id}, .gives_back = true};
    must(store_.transact(footprint, [&](Transaction& transaction) -> Result<void> {
      Lease lease = *transaction.lease(lease_.id);
      lease.status = Status::released;
      lease.ended_by = EndCause::released;
      lease.updated_at = transaction.now();
      transaction.put(lease);
      transaction.append(event(lease, EventType::released, transaction));
      if (!transaction.tickets_at(lease.scope()).empty()) return fail(Code::busy, lease.path);
      if (!transaction.notices(who.holder.owner).empty()) return fail(Code::busy, lease.path);
      return {};
    }));
  }

 private:
  Lease new_lease(const Caller& who, const std::string& path, Transaction& transaction) {
    Lease lease = {.id = {make_uuid(random_)}, .workspace = kWorkspaceId, .path = path};
    lease.holder = who.holder;
    lease.token = transaction.next_token();
    lease.created_at = lease.acquired_at = lease.last_heartbeat_at = lease.updated_at = transaction.now();
    lease.expires_at = transaction.now() + 5min;
    lease.ttl = 5min;
    lease.group_id = {make_uuid(random_)};
    return lease;
  }
  static Event event(const Lease& lease, EventType type, Transaction& transaction) {
    return {.type = type,
            .lease_id = lease.id,
            .group_id = lease.group_id,
            .owner = lease.holder.owner,
            .path = lease.path,
            .mode = lease.mode,
            .token = lease.token,
            .status_after = lease.status,
            .at = transaction.now(),
            .wall = transaction.wall()};
  }

  Store& store_;
  SystemRandom random_;
  Lease lease_;
};

// In turns, so that whatever else the machine does meets both.
void compare_with_bare_store(Report& report) {
  const Folder folder;
  Site site(folder.path());
  BareStore bare(site.store());
  const Caller who = caller(0);
  std::vector<double> managed;
  std::vector<double> unmanaged;
  for (int i = 0; i < kPairs; ++i) {
    const std::string path = file_name("pairs", i);
    auto start = Clock::now();
    must_grant(site.manager().acquire({.caller = who, .paths = {{.path = path}}}));
    managed.push_back(microseconds_since(start));
    if (auto done = site.manager().release({.caller = who, .which = {.paths = {path}}}); !done) {
      give_up(done.error().message);
    }
    start = Clock::now();
    bare.acquire(who, path);
    unmanaged.push_back(microseconds_since(start));
    bare.release(who);
  }
  const double bare_median = quantile(unmanaged, 0.5);
  const double median = quantile(managed, 0.5);
  report.add({.what = "acquire, bare store transaction", .value = bare_median, .unit = "us"});
  report.add({.what = "acquire, manager",
              .value = median,
              .unit = "us",
              .against = "bare store transaction",
              .ratio = median / bare_median,
              .goal = "<= 1.15"});
}

void take_many(LeaseManager& manager, const Caller& who, const std::string& folder, Duration ttl) {
  for (int first = 0; first < kLeases; first += kPathsAtATime) {
    AcquireRequest request = {.caller = who, .ttl = ttl};
    for (int i = first; i < first + kPathsAtATime; ++i)
      request.paths.push_back({.path = file_name(folder, i)});
    must_grant(manager.acquire(request));
  }
}

void renew_many(Report& report, LeaseManager& manager, const std::string& store) {
  const Caller who = caller(1);
  take_many(manager, who, "renewed", 1h);
  std::vector<double> rates;
  for (int round = 0; round < 3; ++round) {
    const auto start = Clock::now();
    const auto renewed = manager.renew({.caller = who, .which = {.all = true}});
    if (!renewed || renewed->outcomes.size() != kLeases) give_up("not all were renewed");
    rates.push_back(1e6 * kLeases / microseconds_since(start));
  }
  report.add({.what = "100,000 leases renewed in one batch, " + store,
              .value = quantile(rates, 0.5),
              .unit = "leases/s",
              .goal = ">= 100,000"});
}

// A manager of its own for those who acquire meanwhile, as another process would have.
void sweep_many(Report& report, LeaseManager& manager, LeaseManager& other, const std::string& store) {
  take_many(manager, caller(2), "ended", 1ms);
  std::atomic<bool> done = false;
  std::vector<double> meanwhile;
  std::thread acquires([&] {
    for (int i = 0; !done; ++i) {
      const auto start = Clock::now();
      must_grant(other.acquire({.caller = caller(3), .paths = {{.path = file_name("other", i)}}}));
      meanwhile.push_back(microseconds_since(start));
    }
  });
  const auto start = Clock::now();
  const auto swept = manager.sweep();
  const double took = microseconds_since(start);
  done = true;
  acquires.join();
  if (!swept || swept->ended < kLeases) give_up("not all were swept");
  report.add(
      {.what = "100,000 ended leases swept, " + store, .value = took / 1e6, .unit = "s", .goal = "< 2"});
  report.add({.what = "acquires of others meanwhile, " + store,
              .value = static_cast<double>(meanwhile.size()),
              .unit = ""});
  report.add({.what = "slowest of them, " + store, .value = quantile(meanwhile, 1.0) / 1e3, .unit = "ms"});
}

int run(int argc, char** argv) {
  const std::string argument = argc > 1 ? argv[1] : "--json=";
  if (!argument.starts_with("--json=")) give_up("usage: bench_manager [--json=FILE]");
  Report report;
  compare_with_bare_store(report);
  {
    BoottimeClock clock;
    SystemRandom random;
    ProcLiveness liveness{read_machine()};
    const auto store = open_memory_store(clock);
    LeaseManager manager({liveness, random}, *store, kWorkspaceId, Policy{});
    renew_many(report, manager, "memory");
    sweep_many(report, manager, manager, "memory");
  }
  {
    const Folder folder;
    Site site(folder.path());
    renew_many(report, site.manager(), "sqlite");
  }
  {
    const Folder folder;
    Site site(folder.path());
    Site other(folder.path());
    sweep_many(report, site.manager(), other.manager(), "sqlite");
  }
  return report.finish(argument.substr(7)) ? 0 : 1;
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);  // As lease and its daemon do.
  return leasehold::bench::run(argc, argv);
}
