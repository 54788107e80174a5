// The Redis store against what people write by hand: SET NX PX with a compare-and-delete, WATCH/MULTI/EXEC
// over three keys, and the very commands this store sends, replayed without any of its thinking. And
// hand-over against clients that retry, and clients that all wake.
#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <poll.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "handover.h"
#include "report.h"
#include "site.h"
#include "store/redis/redis_store.h"
#include "support/proxy.h"
#include "support/redis_server.h"

namespace leasehold::bench {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct RedisSite {
  explicit RedisSite(const std::string& url) {
    auto opened = open_redis_store(url);
    if (!opened) give_up(opened.error().message);
    store = std::move(*opened);
    Policy policy = profile_named("agent")->policy;
    policy.leases_per_owner_max = 10'000'000;
    manager = std::make_unique<LeaseManager>(Environment{liveness, random}, *store, kWorkspaceId, policy,
                                             options_here());
  }

  void pair(const Caller& who, const std::vector<WantedPath>& paths, const std::vector<std::string>& names) {
    must_grant(manager->acquire({.caller = who, .paths = paths}));
    if (auto done = manager->release({.caller = who, .which = {.paths = names}}); !done)
      give_up(done.error().message);
  }

  SystemRandom random;
  ProcLiveness liveness{read_machine()};
  std::unique_ptr<Store> store;
  std::unique_ptr<LeaseManager> manager;
};

std::string file_name(int number) { return fmt::format("/services/api/src/file_{}.ts", number); }

// A plain client.
class Client {
 public:
  explicit Client(const std::string& socket) : context_(redisConnectUnix(socket.c_str())) {
    if (context_ == nullptr || context_->err != 0) give_up("cannot connect");
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { redisFree(context_); }

  template <class... Values>
  void add(const char* format, Values... values) {
    redisAppendCommand(context_, format, values...);
    ++pending_;
  }

  // The last answer. Its owner is this client.
  redisReply* exchange() {
    for (; pending_ > 0; --pending_) {
      last_.reset();
      void* reply = nullptr;
      if (redisGetReply(context_, &reply) != REDIS_OK) give_up("the server is gone");
      last_.reset(static_cast<redisReply*>(reply));
    }
    return last_.get();
  }

  template <class... Values>
  redisReply* call(const char* format, Values... values) {
    add(format, values...);
    return exchange();
  }

  redisContext* context() const { return context_; }

 private:
  redisContext* context_;
  int pending_ = 0;
  struct Free {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  std::unique_ptr<redisReply, Free> last_;
};

constexpr const char* kCompareAndDelete =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

using Pair = std::function<void()>;

Pair bare_pair(const std::string& socket, int number) {
  auto client = std::make_shared<Client>(socket);
  const std::string sha = client->call("SCRIPT LOAD %s", kCompareAndDelete)->str;
  const std::string key = fmt::format("bare:{}", number);
  const std::string owner = fmt::format("agent-{}", number);
  return [client, sha, key, owner] {
    client->call("SET %s %s NX PX 300000", key.c_str(), owner.c_str());
    client->call("EVALSHA %s 1 %s %s", sha.c_str(), key.c_str(), owner.c_str());
  };
}

// What a careful program would do by hand for three files.
Pair three_key_pair(const std::string& socket, int number) {
  auto client = std::make_shared<Client>(socket);
  std::vector<std::string> keys;
  for (int i = 0; i < 3; ++i) keys.push_back(fmt::format("three:{}:{}", number, i));
  const std::string value =
      fmt::format(R"({{"agentId":"agent-{}","prId":"7","timestamp":1760000000000,"ttl":300000}})", number);
  return [client, keys, value] {
    const char* a = keys[0].c_str();
    const char* b = keys[1].c_str();
    const char* c = keys[2].c_str();
    client->add("WATCH %s %s %s", a, b, c);
    client->add("MGET %s %s %s", a, b, c);
    client->exchange();
    client->add("MULTI");
    for (const char* key : {a, b, c}) client->add("SET %s %s NX PX 300000", key, value.c_str());
    client->add("EXEC");
    if (client->exchange()->type != REDIS_REPLY_ARRAY) give_up("EXEC was aborted");
    client->add("WATCH %s %s %s", a, b, c);
    client->add("MGET %s %s %s", a, b, c);
    client->exchange();
    client->add("MULTI");
    client->add("DEL %s %s %s", a, b, c);
    client->add("EXEC");
    client->exchange();
  };
}

std::vector<std::string> names_of(int number, int files) {
  std::vector<std::string> names;
  for (int i = 0; i < files; ++i) names.push_back(file_name(number * 10 + i));
  return names;
}

Pair lease_pair(const std::string& url, int number, int files) {
  auto site = std::make_shared<RedisSite>(url);
  const std::vector<std::string> names = names_of(number, files);
  std::vector<WantedPath> paths;
  for (const std::string& name : names) paths.push_back({.path = name});
  return [site, number, names, paths] { site->pair(caller(number), paths, names); };
}

// One round trip as it was recorded: the bytes, and how many answers they got.
struct Trip {
  std::string bytes;
  std::size_t replies = 0;
};

std::vector<Trip> record_pair(const std::string& socket, int number, int files) {
  std::vector<Trip> trips;
  redisReader* reader = redisReaderCreate();
  bool recording = false;
  {
    Proxy proxy(socket);
    const Pair pair = lease_pair("redis+unix://" + proxy.socket(), number, files);
    for (int i = 0; i < 3; ++i) pair();  // So that it has seen all keys.
    proxy.judge_by([&](bool to_server, std::string_view bytes) {
      if (!recording) return Proxy::Fate::forward;
      if (to_server) {
        if (trips.empty() || trips.back().replies > 0) trips.emplace_back();
        trips.back().bytes += bytes;
        return Proxy::Fate::forward;
      }
      redisReaderFeed(reader, bytes.data(), bytes.size());
      for (void* reply = nullptr; redisReaderGetReply(reader, &reply) == REDIS_OK && reply != nullptr;
           reply = nullptr) {
        freeReplyObject(reply);
        ++trips.back().replies;
      }
      return Proxy::Fate::forward;
    });
    recording = true;
    pair();
    recording = false;
  }
  redisReaderFree(reader);
  if (trips.size() != 4) give_up(fmt::format("a pair took {} round trips instead of 4", trips.size()));
  return trips;
}

// The same bytes again, but for the leases' ids, which have to be new each time.
class Replay {
 public:
  Replay(const std::string& socket, int number, int files)
      : client_(socket), trips_(record_pair(socket, number, files)) {
    constexpr std::string_view kName = "lease:id:";
    std::set<std::string> ids;
    const std::string& commit = trips_[1].bytes;
    for (std::size_t at = commit.find(kName); at != std::string::npos; at = commit.find(kName, at + 1))
      ids.insert(commit.substr(at + kName.size(), 36));
    if (ids.size() != static_cast<std::size_t>(files)) give_up("the commit has other ids");
    for (const std::string& id : ids) {
      std::vector<std::pair<std::size_t, std::size_t>>& places = places_.emplace_back();
      for (std::size_t trip = 0; trip < trips_.size(); ++trip) {
        const std::string& bytes = trips_[trip].bytes;
        for (std::size_t at = bytes.find(id); at != std::string::npos; at = bytes.find(id, at + 1))
          places.emplace_back(trip, at);
      }
    }
    random_.seed(static_cast<unsigned>(number));
  }

  void pair() {
    for (const auto& places : places_) {
      const std::string tail = fmt::format("{:012x}", random_() & 0xffffffffffff);
      for (const auto& [trip, place] : places) trips_[trip].bytes.replace(place + 24, 12, tail);
    }
    for (const Trip& trip : trips_) {
      redisContext* context = client_.context();
      for (std::size_t sent = 0; sent < trip.bytes.size();) {
        const ssize_t moved = write(context->fd, trip.bytes.data() + sent, trip.bytes.size() - sent);
        if (moved <= 0) give_up("the server is gone");
        sent += static_cast<std::size_t>(moved);
      }
      for (std::size_t i = 0; i < trip.replies; ++i) {
        void* reply = nullptr;
        if (redisGetReply(context, &reply) != REDIS_OK) give_up("the server is gone");
        // Of an EXEC that was aborted.
        if (i + 1 == trip.replies && static_cast<redisReply*>(reply)->type == REDIS_REPLY_NIL)
          give_up("a replayed EXEC was aborted");
        freeReplyObject(reply);
      }
    }
  }

 private:
  Client client_;
  std::vector<Trip> trips_;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> places_;  // Of each id: trip, and where.
  std::mt19937_64 random_;
};

Pair replayed_pair(const std::string& socket, int number, int files) {
  auto replay = std::make_shared<Replay>(socket, number, files);
  return [replay] { replay->pair(); };
}

// Pairs a second of so many threads, each with a connection of its own.
double rate(int connections, Duration duration, const std::function<Pair(int)>& make) {
  std::vector<Pair> pairs;
  for (int i = 0; i < connections; ++i) pairs.push_back(make(i));
  std::atomic<long> total = 0;
  std::atomic<bool> go = false;
  std::vector<std::jthread> threads;
  for (const Pair& pair : pairs) {
    threads.emplace_back([&] {
      while (!go) std::this_thread::yield();
      long done = 0;
      for (const auto end = Clock::now() + duration; Clock::now() < end; ++done) pair();
      total += done;
    });
  }
  go = true;
  threads.clear();
  return static_cast<double>(total) / std::chrono::duration<double>(duration).count();
}

// Several short runs of each, in turn, so that what else the machine does meets all alike; and each on an
// empty server, so that none finds what another left there.
void compare_rates(Report& report, const RedisServer& server, Duration duration) {
  const std::string socket = server.socket();
  constexpr int kRuns = 3;
  for (const int connections : {1, 8, 32}) {
    std::vector<double> bare;
    std::vector<double> replayed;
    std::vector<double> ours;
    std::vector<double> by_hand;
    std::vector<double> replayed_three;
    std::vector<double> ours_of_three;
    const auto add = [&](std::vector<double>& rates, const std::function<Pair(int)>& make) {
      server.call({"FLUSHALL"});
      rates.push_back(rate(connections, duration, make));
    };
    for (int run = 0; run < kRuns; ++run) {
      add(bare, [&](int i) { return bare_pair(socket, i); });
      add(replayed, [&](int i) { return replayed_pair(socket, 1000 + i, 1); });
      add(ours, [&](int i) { return lease_pair(server.url(), 2000 + i, 1); });
      add(by_hand, [&](int i) { return three_key_pair(socket, i); });
      add(replayed_three, [&](int i) { return replayed_pair(socket, 4000 + i, 3); });
      add(ours_of_three, [&](int i) { return lease_pair(server.url(), 3000 + i, 3); });
    }
    const char* goal = connections == 1 ? ">= 0.35" : connections == 8 ? ">= 0.22" : ">= 0.18";
    const double base = quantile(bare, 0.5);
    const double same = quantile(replayed, 0.5);
    const double lease = quantile(ours, 0.5);
    const double three = quantile(by_hand, 0.5);
    const double same_three = quantile(replayed_three, 0.5);
    const double lease_three = quantile(ours_of_three, 0.5);
    const auto what = [&](const char* who) { return fmt::format("{}, {} connections", who, connections); };
    report.add({what("SET NX PX + compare-and-delete"), base, "pairs/s"});
    report.add({what("the same commands replayed"), same, "pairs/s", "SET NX", same / base});
    report.add({what("lease"), lease, "pairs/s", "SET NX", lease / base, goal});
    report.add({what("lease"), lease, "pairs/s", "the same commands", lease / same, ">= 0.8"});
    report.add({what("3 keys by hand"), three, "pairs/s"});
    report.add({what("the same commands of 3 files replayed"), same_three, "pairs/s", "3 keys by hand",
                same_three / three});
    report.add({what("lease of 3 files"), lease_three, "pairs/s", "3 keys by hand", lease_three / three,
                connections == 1 ? ">= 0.6" : ""});
  }
}

Lock retrying_lock(const std::string& socket, int number) {
  auto client = std::make_shared<Client>(socket);
  const std::string owner = fmt::format("agent-{}", number);
  return {[client, owner] {
            while (client->call("SET contended %s NX PX 60000", owner.c_str())->type == REDIS_REPLY_NIL)
              std::this_thread::sleep_for(100ms);
          },
          [client, owner] { client->call("EVAL %s 1 contended %s", kCompareAndDelete, owner.c_str()); }};
}

// Subscribes, and tries again whenever somebody says that the key is free: so do all others.
Lock waking_lock(const std::string& socket, int number) {
  auto client = std::make_shared<Client>(socket);
  auto bell = std::make_shared<Client>(socket);
  bell->call("SUBSCRIBE freed");
  const std::string owner = fmt::format("agent-{}", number);
  return {[client, bell, owner] {
            while (client->call("SET woken %s NX PX 60000", owner.c_str())->type == REDIS_REPLY_NIL) {
              pollfd waiting{bell->context()->fd, POLLIN, 0};
              if (poll(&waiting, 1, 1000) == 1) {
                void* reply = nullptr;
                redisGetReply(bell->context(), &reply);
                freeReplyObject(reply);
              }
            }
          },
          [client, owner] {
            client->call("EVAL %s 1 woken %s",
                         "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) "
                         "redis.call('PUBLISH', 'freed', '1') end",
                         owner.c_str());
          }};
}

void compare_handover(Report& report, const RedisServer& server) {
  for (const int count : {2, 8, 32}) {
    const std::vector<Contender> contenders = {
        {"retry every 100 ms", [&](int i) { return retrying_lock(server.socket(), i); }},
        {"pub/sub, all wake", [&](int i) { return waking_lock(server.socket(), i); }},
        {"lease",
         [&](int i) {
           auto site = std::make_shared<RedisSite>(server.url());
           return lease_lock(site, *site->manager, i);
         }},
    };
    const std::vector<double> p50 = compare_turns(report, count, contenders);
    const auto add = [&](const char* other, double of_other, const char* goal) {
      report.add({fmt::format("lease hand-over p50, {} processes", count), p50[2], "us",
                  fmt::format("{}'s through it", other), of_other / std::max(p50[2], 1.0), goal});
    };
    add("retrying", p50[0], count == 2 ? ">= 20" : "");
    add("pub/sub", p50[1], ">= 1");
  }
}

double used_memory(const RedisServer& server) {
  const std::string info = server.call({"INFO", "memory"});
  return std::stod(info.substr(info.find("used_memory:") + 12));
}

void fill(RedisSite& site, int first, int count) {
  constexpr int kBatch = 100;
  for (int done = first; done < first + count; done += kBatch) {
    AcquireRequest request = {.caller = caller(done / 1000), .ttl = Duration(std::chrono::hours(1))};
    for (int i = done; i < done + kBatch; ++i)
      request.paths.push_back({.path = fmt::format("/apps/module_{}/source_{}.cc", i / 100, i)});
    must_grant(site.manager->acquire(request));
  }
}

double median_acquire(RedisSite& site, int rounds) {
  std::vector<double> samples;
  for (int i = 0; i < rounds; ++i) {
    const std::string path = file_name(i % 50);
    const auto start = Clock::now();
    must_grant(site.manager->acquire({.caller = caller(2), .paths = {{.path = path}}}));
    samples.push_back(microseconds_since(start));
    if (!site.manager->release({.caller = caller(2), .which = {.paths = {path}}})) give_up("release failed");
  }
  return quantile(samples, 0.5);
}

void compare_sizes(Report& report, int many) {
  const RedisServer few({"--appendonly", "no"});
  const RedisServer lots({"--appendonly", "no"});
  RedisSite among_few(few.url());
  RedisSite among_lots(lots.url());
  fill(among_few, 0, 1'000);
  const double empty = used_memory(lots);
  fill(among_lots, 0, many);
  report.add(
      {"memory for each lease, its history and all indexes", (used_memory(lots) - empty) / many, "bytes"});
  std::vector<double> with_few;
  std::vector<double> with_lots;
  for (int round = 0; round < 20; ++round) {
    with_few.push_back(median_acquire(among_few, 100));
    with_lots.push_back(median_acquire(among_lots, 100));
  }
  const double base = quantile(with_few, 0.5);
  const double value = quantile(with_lots, 0.5);
  report.add({"acquire among 1,000 leases: p50", base, "us"});
  report.add(
      {fmt::format("acquire among {} leases: p50", many), value, "us", "that", value / base, "<= 1.2"});
}

int run(int argc, char** argv) {
  std::string json;
  int many = 1'000'000;
  std::string only;
  Duration duration = 2s;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      many = 50'000;
      duration = 500ms;
    } else if (argument == "--only=pairs" || argument == "--only=hand-over" || argument == "--only=sizes") {
      only = argument.substr(7);
    } else if (argument.starts_with("--json=")) {
      json = argument.substr(7);
    } else {
      give_up("usage: bench_redis [--quick] [--only=pairs|hand-over|sizes] [--json=FILE]");
    }
  }
  Report report;
  const auto is_wanted = [&](std::string_view part) { return only.empty() || only == part; };
  {
    // Rewriting the append-only file takes a core from whoever is measured at that moment.
    const RedisServer server({"--auto-aof-rewrite-percentage", "0"});
    if (is_wanted("pairs")) compare_rates(report, server, duration);
    if (is_wanted("hand-over")) compare_handover(report, server);
  }
  if (is_wanted("sizes")) compare_sizes(report, many);
  return report.finish(json) ? 0 : 1;
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
