// lease serve against what a team would run instead, all of it durable, one after the other on this machine.
// And what only a lease server does: hand-over, the death of a client, much that ends at once, much that is
// held.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include "durable_peers.h"
#include "env/machine.h"
#include "env/processes.h"
#include "lease_server.h"
#include "report.h"
#include "site.h"

namespace leasehold::bench {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

std::string request_for(int number, const std::string& paths, const std::string& more = {}) {
  return fmt::format(R"({{"agent_id":"agent-{}","session_id":"s","paths":[{}]{}}})", number, paths, more);
}

std::string file_name(int number) { return fmt::format("\"/services/api/src/file_{}.ts\"", number); }

void must_be(int expected, int status, const HttpLine& line) {
  if (status != expected) give_up(fmt::format("status {}: {}", status, line.body()));
}

PeerClient connect_lease(const std::string& socket, int number) {
  const auto line = std::make_shared<HttpLine>(socket);
  if (!line->is_connected()) give_up("cannot connect to lease serve");
  const std::string take = request_for(number, file_name(number));
  const std::string give_back = fmt::format(
      R"({{"agent_id":"agent-{}","session_id":"s","which":{{"paths":[{}]}}}})", number, file_name(number));
  return {[line, take] { must_be(201, line->post("/v1/leases", take), *line); },
          [line, give_back] { must_be(200, line->post("/v1/leases/release", give_back), *line); }};
}

// As many requests, of which none asks the store: what HTTP and these clients take by themselves.
PeerClient connect_in_vain(const std::string& socket) {
  const auto line = std::make_shared<HttpLine>(socket);
  if (!line->is_connected()) give_up("cannot connect to lease serve");
  const auto ask = [line] { must_be(200, line->get("/healthz"), *line); };
  return {ask, ask};
}

struct Measured {
  double rate = 0;            // Pairs in a second, of all clients.
  std::vector<double> takes;  // Microseconds each.
  double slowest = 0;         // Pairs in a second, of the slowest client.
};

Measured measure(const std::function<PeerClient(int)>& connect, int clients, Duration duration) {
  std::vector<PeerClient> all;
  for (int i = 0; i < clients; ++i) all.push_back(connect(i));
  for (const PeerClient& one : all) {  // Connected, and known.
    one.take();
    one.give_back();
  }
  Measured measured;
  std::vector<std::size_t> counts;
  std::mutex mutex;
  std::atomic<bool> go = false;
  std::vector<std::jthread> threads;
  for (const PeerClient& one : all) {
    threads.emplace_back([&] {
      while (!go) std::this_thread::sleep_for(1ms);
      std::vector<double> takes;
      for (const auto end = Clock::now() + duration; Clock::now() < end;) {
        const auto start = Clock::now();
        one.take();
        takes.push_back(microseconds_since(start));
        one.give_back();
      }
      const std::lock_guard lock(mutex);
      counts.push_back(takes.size());
      measured.takes.insert(measured.takes.end(), takes.begin(), takes.end());
    });
  }
  go = true;
  threads.clear();
  const double seconds = std::chrono::duration<double>(duration).count();
  measured.rate = static_cast<double>(measured.takes.size()) / seconds;
  measured.slowest = static_cast<double>(*std::ranges::min_element(counts)) / seconds;
  return measured;
}

void tell(Report& report, const std::string& name, int clients, Measured& measured, const Measured* best,
          const std::string& best_name) {
  const auto what = [&](const char* which) {
    return fmt::format("{}, {} clients: {}", name, clients, which);
  };
  if (best == nullptr) {
    report.add({what("pairs"), measured.rate, "/s"});
  } else {
    report.add({what("pairs"), measured.rate, "/s", best_name, measured.rate / best->rate,
                clients >= 32 ? "> 1, stretch 1.4" : ""});
  }
  report.add({what("acquire p50"), quantile(measured.takes, 0.5), "us"});
  report.add({what("acquire p99"), quantile(measured.takes, 0.99), "us"});
  report.add({what("pairs of the slowest"), measured.slowest, "/s"});
}

void compare_rates(Report& report, Duration duration) {
  const LeaseServer server;
  const std::vector<Peer> peers = durable_peers();
  for (const int clients : {1, 8, 32, 128}) {
    Measured best;
    std::string best_name;
    for (const Peer& peer : peers) {
      Measured measured = measure(peer.connect, clients, duration);
      tell(report, peer.name, clients, measured, nullptr, {});
      if (measured.rate <= best.rate) continue;
      best = std::move(measured);
      best_name = peer.name;
    }
    Measured ours =
        measure([&](int number) { return connect_lease(server.socket(), number); }, clients, duration);
    tell(report, "lease serve", clients, ours, &best, best_name);
    const Measured http = measure([&](int) { return connect_in_vain(server.socket()); }, clients, duration);
    report.add({fmt::format("lease serve, {} clients: pairs that ask no store", clients), http.rate, "/s",
                best_name, http.rate / best.rate});
  }
}

// So many want one file; each gives it back as soon as it has it.
void measure_handover(Report& report, int waiters) {
  const LeaseServer server;
  std::atomic<std::int64_t> given_at = 0;
  std::mutex mutex;
  std::vector<double> times;
  std::vector<std::jthread> threads;
  const auto end = Clock::now() + 3s;
  for (int number = 0; number < waiters; ++number) {
    threads.emplace_back([&, number] {
      HttpLine line(server.socket());
      const std::string take = request_for(number, "\"/contended\"");
      const std::string give =
          fmt::format(R"({{"agent_id":"agent-{}","session_id":"s","which":{{"all":true}}}})", number);
      std::vector<double> own;
      while (Clock::now() < end) {
        must_be(201, line.post("/v1/leases", take, "Prefer: wait=60\r\n"), line);
        const auto now = Clock::now().time_since_epoch().count();
        if (const auto before = given_at.exchange(0); before != 0)
          own.push_back(static_cast<double>(now - before) / 1e3);
        std::this_thread::sleep_for(1ms);
        given_at = Clock::now().time_since_epoch().count();
        must_be(200, line.post("/v1/leases/release", give), line);
      }
      const std::lock_guard lock(mutex);
      times.insert(times.end(), own.begin(), own.end());
    });
  }
  threads.clear();
  report.add(
      {fmt::format("hand-over, {} waiters: p50", waiters), quantile(times, 0.5), "us", "", {}, "< 1000"});
  report.add({fmt::format("hand-over, {} waiters: p99", waiters), quantile(times, 0.99), "us"});
}

std::string process_json(const Process& process) {
  return fmt::format(R"({{"machine_id":"{}","boot_id":"{}","pid_namespace":{},"pid":{},"start_time":{}}})",
                     process.machine_id, process.boot_id, process.pid_namespace, process.pid,
                     process.start_time);
}

// A client of this machine is killed while somebody waits for what it holds.
void measure_reclaim(Report& report) {
  const LeaseServer server;
  const Machine machine = read_machine();
  std::vector<double> times;
  for (int round = 0; round < 100; ++round) {
    const pid_t holder = fork();
    if (holder == 0) {
      pause();
      _exit(0);
    }
    HttpLine line(server.socket());
    const auto process = process_with_pid(machine, holder);
    if (!process) give_up("a process of our own cannot be seen");
    must_be(
        201,
        line.post("/v1/leases", request_for(0, "\"/reclaimed\"", ",\"process\":" + process_json(*process))),
        line);
    double took = 0;
    Clock::time_point killed;
    std::jthread waiter([&] {
      HttpLine waiting(server.socket());
      must_be(201, waiting.post("/v1/leases", request_for(1, "\"/reclaimed\""), "Prefer: wait=60\r\n"),
              waiting);
      took = microseconds_since(killed);
      must_be(200,
              waiting.post("/v1/leases/release",
                           R"({"agent_id":"agent-1","session_id":"s","which":{"all":true}})"),
              waiting);
    });
    do {
      std::this_thread::sleep_for(2ms);
      line.get("/v1/leases?agent_id=agent-1");
    } while (line.body().find("\"pending\"") == std::string::npos);
    killed = Clock::now();
    kill(holder, SIGKILL);
    waitpid(holder, nullptr, 0);
    waiter.join();
    times.push_back(took);
  }
  report.add({"a killed client's lease: p50 to its waiter", quantile(times, 0.5), "us"});
  report.add({"a killed client's lease: p99 to its waiter", quantile(times, 0.99), "us", "", {}, "< 100000"});
}

constexpr int kPathsAtOnce = 500;

// Leases of one request, which end at the same time as those of all others.
std::string many(int request, std::optional<Clock::time_point> end) {
  std::string paths;
  for (int i = 0; i < kPathsAtOnce; ++i)
    paths += fmt::format("{}\"/many/{}/file_{}.ts\"", i == 0 ? "" : ",", request, i);
  const auto ttl =
      end ? std::chrono::ceil<std::chrono::milliseconds>(*end - Clock::now()).count() : 3'500'000;
  return request_for(1'000 + request, paths, fmt::format(",\"ttl_ms\":{}", ttl));
}

double counter(HttpLine& line, std::string_view name) {
  line.get("/metrics");
  const std::size_t at = line.body().find(fmt::format("\n{} ", name));
  return at == std::string::npos ? 0 : std::strtod(line.body().c_str() + at + name.size() + 2, nullptr);
}

void measure_sweep(Report& report, int leases) {
  const LeaseServer server;
  HttpLine line(server.socket());
  const auto end = Clock::now() + 60s;
  for (int i = 0; i < leases / kPathsAtOnce; ++i) must_be(201, line.post("/v1/leases", many(i, end)), line);
  if (Clock::now() > end - 1s) give_up("it took too long to take so many leases");
  std::this_thread::sleep_until(end - 500ms);
  std::atomic<bool> swept = false;
  std::vector<double> takes;
  std::jthread other([&] {
    const PeerClient client = connect_lease(server.socket(), 0);
    while (!swept) {
      const auto start = Clock::now();
      client.take();
      takes.push_back(microseconds_since(start));
      client.give_back();
    }
  });
  std::this_thread::sleep_until(end);
  const double wanted = leases / kPathsAtOnce * kPathsAtOnce;
  while (counter(line, "lease_cleanup_records_total{kind=\"ended\"}") < wanted)
    std::this_thread::sleep_for(20ms);
  const double seconds = microseconds_since(end) / 1e6;
  swept = true;
  other.join();
  report.add({fmt::format("{} leases end at once: swept within", leases), seconds, "s", "", {}, "< 2"});
  report.add({"acquire p99 of others meanwhile", quantile(takes, 0.99), "us", "", {}, "< 20000"});
}

void measure_memory(Report& report, int leases) {
  const LeaseServer server;
  HttpLine line(server.socket());
  const auto start = Clock::now();
  for (int i = 0; i < leases / kPathsAtOnce; ++i) must_be(201, line.post("/v1/leases", many(i, {})), line);
  report.add({fmt::format("{} leases taken, {} at a time", leases, kPathsAtOnce),
              leases / (microseconds_since(start) / 1e6), "leases/s"});
  PeerClient client = connect_lease(server.socket(), 0);
  std::vector<double> takes;
  for (int i = 0; i < 500; ++i) {
    const auto began = Clock::now();
    client.take();
    takes.push_back(microseconds_since(began));
    client.give_back();
  }
  report.add({fmt::format("acquire p50 with {} live leases", leases), quantile(takes, 0.5), "us"});
  report.add({fmt::format("memory with {} live leases", leases),
              server.resident_megabytes(),
              "MB",
              "",
              {},
              "< 500"});
}

int run(int argc, char** argv) {
  std::string json;
  std::string only;
  Duration duration = 5s;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      duration = 1s;
    } else if (argument.starts_with("--only=")) {
      only = argument.substr(7);
    } else if (argument.starts_with("--json=")) {
      json = argument.substr(7);
    } else {
      give_up("usage: bench_server [--quick] [--only=rates|handover|reclaim|sweep|memory] [--json=FILE]");
    }
  }
  const auto wanted = [&](std::string_view part) { return only.empty() || only == part; };
  Report report;
  if (wanted("rates")) compare_rates(report, duration);
  if (wanted("handover")) {
    measure_handover(report, 8);
    measure_handover(report, 32);
  }
  if (wanted("reclaim")) measure_reclaim(report);
  if (wanted("sweep")) measure_sweep(report, 100'000);
  if (wanted("memory")) measure_memory(report, 1'000'000);
  return report.finish(json) ? 0 : 1;
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
