// The etcd store against what people write by hand: a lease of etcd's, a transaction that creates the key if
// it is absent, and a delete. And hand-over against etcd's own lock service. On three members.
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "etcd.grpc.pb.h"
#include "etcd_lock.grpc.pb.h"
#include "handover.h"
#include "report.h"
#include "site.h"
#include "store/etcd/etcd_store.h"
#include "support/etcd_cluster.h"

namespace leasehold::bench {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
namespace pb = etcdserverpb;

// Nobody revokes what was granted by hand; none of it is to end while something else is measured.
constexpr int kTtlSeconds = 600;

void must(const grpc::Status& status) {
  if (!status.ok()) give_up(status.error_message());
}

// What a program does by hand.
class ByHand {
 public:
  explicit ByHand(const std::string& endpoint)
      : channel_(grpc::CreateChannel(endpoint, grpc::InsecureChannelCredentials())),
        kv_(pb::KV::NewStub(channel_)),
        lease_(pb::Lease::NewStub(channel_)),
        lock_(v3lockpb::Lock::NewStub(channel_)) {}

  std::int64_t grant() {
    grpc::ClientContext context;
    pb::LeaseGrantRequest request;
    request.set_ttl(kTtlSeconds);
    pb::LeaseGrantResponse response;
    must(lease_->LeaseGrant(&context, request, &response));
    return response.id();
  }

  void pair(const std::string& key) {
    const std::int64_t lease = grant();
    {
      grpc::ClientContext context;
      pb::TxnRequest request;
      pb::Compare& compare = *request.add_compare();
      compare.set_key(key);
      compare.set_target(pb::Compare::CREATE);
      compare.set_create_revision(0);
      pb::PutRequest& put = *request.add_success()->mutable_request_put();
      put.set_key(key);
      put.set_value("agent");
      put.set_lease(lease);
      pb::TxnResponse response;
      must(kv_->Txn(&context, request, &response));
      if (!response.succeeded()) give_up("the key was there");
    }
    grpc::ClientContext context;
    pb::DeleteRangeRequest request;
    request.set_key(key);
    pb::DeleteRangeResponse response;
    must(kv_->DeleteRange(&context, request, &response));
  }

  std::string lock(std::int64_t lease) {
    grpc::ClientContext context;
    v3lockpb::LockRequest request;
    request.set_name("contended");
    request.set_lease(lease);
    v3lockpb::LockResponse response;
    must(lock_->Lock(&context, request, &response));
    return response.key();
  }

  void unlock(const std::string& key) {
    grpc::ClientContext context;
    v3lockpb::UnlockRequest request;
    request.set_key(key);
    v3lockpb::UnlockResponse response;
    must(lock_->Unlock(&context, request, &response));
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<pb::KV::Stub> kv_;
  std::unique_ptr<pb::Lease::Stub> lease_;
  std::unique_ptr<v3lockpb::Lock::Stub> lock_;
};

struct EtcdSite {
  explicit EtcdSite(const std::string& url) {
    auto opened = open_etcd_store(url);
    if (!opened) give_up(opened.error().message);
    store = std::move(*opened);
    manager = std::make_unique<LeaseManager>(Environment{liveness, random}, *store, kWorkspaceId,
                                             profile_named("agent")->policy, options_here());
  }

  SystemRandom random;
  ProcLiveness liveness{read_machine()};
  std::unique_ptr<Store> store;
  std::unique_ptr<LeaseManager> manager;
};

using Pair = std::function<void()>;

Pair pair_by_hand(const EtcdCluster& cluster, int number) {
  auto client = std::make_shared<ByHand>(cluster.endpoint(0));
  return [client, key = fmt::format("by-hand/{}", number)] { client->pair(key); };
}

Pair lease_pair(const EtcdCluster& cluster, int number) {
  auto site = std::make_shared<EtcdSite>(cluster.url_of(0));
  const Caller who = caller(number);
  const std::string path = fmt::format("/services/api/src/file_{}.ts", number);
  return [site, who, path] {
    must_grant(site->manager->acquire({.caller = who, .paths = {{.path = path}}, .ttl = Duration(30s)}));
    if (auto done = site->manager->release({.caller = who, .which = {.paths = {path}}}); !done)
      give_up(done.error().message);
  };
}

// How long each pair of so many clients took, in microseconds.
std::vector<double> times(int clients, Duration duration, const std::function<Pair(int)>& make) {
  std::vector<Pair> pairs;
  for (int i = 0; i < clients; ++i) pairs.push_back(make(i));
  for (const Pair& pair : pairs) pair();  // Connected, and known.
  std::mutex mutex;
  std::vector<double> all;
  std::atomic<bool> go = false;
  std::vector<std::jthread> threads;
  for (const Pair& pair : pairs) {
    threads.emplace_back([&] {
      while (!go) std::this_thread::yield();
      std::vector<double> own;
      for (const auto end = Clock::now() + duration; Clock::now() < end;) {
        const auto start = Clock::now();
        pair();
        own.push_back(microseconds_since(start));
      }
      const std::lock_guard lock(mutex);
      all.insert(all.end(), own.begin(), own.end());
    });
  }
  go = true;
  threads.clear();
  return all;
}

// What some clients did, and what it took.
struct Work {
  std::vector<double> times;
  double calls = 0;
  double cpu_seconds = 0;      // Of all members and clients.
  double own_cpu_seconds = 0;  // Of the clients.

  double pairs() const { return static_cast<double>(times.size()); }
};

double cpu_seconds_here() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void add_run(Work& work, const EtcdCluster& cluster, int clients, Duration duration,
             const std::function<Pair(int)>& make) {
  const double calls = cluster.calls();
  const double cpu = cluster.cpu_seconds();
  const double own_cpu = cpu_seconds_here();
  const std::vector<double> more = times(clients, duration, make);
  work.times.insert(work.times.end(), more.begin(), more.end());
  work.own_cpu_seconds += cpu_seconds_here() - own_cpu;
  work.cpu_seconds += cluster.cpu_seconds() - cpu + cpu_seconds_here() - own_cpu;
  work.calls += cluster.calls() - calls;
}

// Several short runs of each, in turn, so that what else the machine does meets both alike.
void compare_rates(Report& report, const EtcdCluster& cluster, Duration duration) {
  constexpr int kRuns = 3;
  const double seconds = kRuns * std::chrono::duration<double>(duration).count();
  for (const int clients : {1, 8, 32}) {
    Work theirs;
    Work ours;
    for (int run = 0; run < kRuns; ++run) {
      add_run(theirs, cluster, clients, duration, [&](int i) { return pair_by_hand(cluster, i); });
      add_run(ours, cluster, clients, duration, [&](int i) { return lease_pair(cluster, i); });
    }
    const auto add = [&](const char* what, const char* unit, double base, double mine, double ratio,
                         const char* goal) {
      report.add({fmt::format("grant + create + delete, {} clients: {}", clients, what), base, unit});
      report.add({fmt::format("lease, {} clients: {}", clients, what), mine, unit, "by hand", ratio, goal});
    };
    add("pairs", "/s", theirs.pairs() / seconds, ours.pairs() / seconds, ours.pairs() / theirs.pairs(),
        ">= 0.6");
    const double base = quantile(theirs.times, 0.5);
    const double mine = quantile(ours.times, 0.5);
    add("p50", "us", base, mine, base / mine, ">= 0.6");
    // What is left of it when others compute too.
    const double base_cpu = theirs.cpu_seconds * 1e6 / theirs.pairs();
    const double cpu = ours.cpu_seconds * 1e6 / ours.pairs();
    add("CPU of members and clients in a pair", "us", base_cpu, cpu, base_cpu / cpu, "");
    const double base_own = theirs.own_cpu_seconds * 1e6 / theirs.pairs();
    const double own = ours.own_cpu_seconds * 1e6 / ours.pairs();
    add("CPU of the client in a pair", "us", base_own, own, base_own / own, "");
    add("calls in a pair", "", theirs.calls / theirs.pairs(), ours.calls / ours.pairs(),
        theirs.pairs() * ours.calls / ours.pairs() / theirs.calls, "");
  }
}

// etcd's own client takes the members in turn; ours, which is given all of them too, the one that leads.
Lock etcd_lock(const EtcdCluster& cluster, int number) {
  auto client = std::make_shared<ByHand>(cluster.endpoint(number % cluster.size()));
  auto lease = std::make_shared<std::int64_t>(client->grant());
  auto key = std::make_shared<std::string>();
  return {[=] { *key = client->lock(*lease); }, [=] { client->unlock(*key); }};
}

// From giving back to somebody else's having it. A process asks again when the next one has it, so with two
// of them each has waited for one short hold. etcd's lock service watches what it waits for from the past,
// and etcd begins with such watches only every 100 ms. Who asks again at once waits for somebody who waits
// for that: the same tick begins with both watches, of every two hand-overs one takes most of 100 ms and one
// is fast, and which of them is the median is chance.
//
// In processes of their own: this one has to be without gRPC until they are done.
void compare_handover(Report& report, const EtcdCluster& cluster) {
  for (const int count : {2, 8, 32}) {
    const std::vector<Contender> contenders = {
        {"etcd's v3/lock", [&](int i) { return etcd_lock(cluster, i); }},
        {"lease",
         [&](int i) {
           auto site = std::make_shared<EtcdSite>(cluster.url());
           return lease_lock(site, *site->manager, i);
         }},
    };
    const std::vector<double> p50 = compare_turns(report, count, contenders);
    report.add({fmt::format("lease hand-over p50, {} processes", count), p50[1], "us", "v3/lock's through it",
                p50[0] / std::max(p50[1], 1.0), count == 2 ? ">= 10" : ">= 1"});
  }
}

int run(int argc, char** argv) {
  std::string json;
  std::string only;
  Duration duration = 2s;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      duration = 500ms;
    } else if (argument.starts_with("--json=")) {
      json = argument.substr(7);
    } else if (argument == "--only=pairs" || argument == "--only=hand-over") {
      only = argument.substr(7);
    } else {
      give_up("usage: bench_etcd [--quick] [--only=pairs|hand-over] [--json=FILE]");
    }
  }
  Report report;
  const EtcdCluster cluster(3);
  if (only != "pairs") compare_handover(report, cluster);
  if (only != "hand-over") compare_rates(report, cluster, duration);
  return report.finish(json) ? 0 : 1;
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
