#include "handover.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "postgres.h"
#include "site.h"

namespace leasehold::bench {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr const char* kContended = "/src/contended.ts";
constexpr auto kHold = 5ms;
// As the baseline was measured: what a process does for the first time is not counted.
constexpr auto kWarmUp = 300ms;
constexpr auto kTurnsTime = 3s;
constexpr auto kCrowdTime = 3s;

std::int64_t nanoseconds() { return Clock::now().time_since_epoch().count(); }

// What the processes of one run share.
struct Shared {
  std::atomic<int> ready;
  std::atomic<bool> go;
  std::atomic<std::int64_t> released_at;
  std::atomic<int> holder;  // The last one.
};

// What one process found out; sent through a pipe when it is done.
struct Finding {
  std::vector<double> samples;  // Microseconds.
  double turns = 0;
};

void send(int fd, const Finding& finding) {
  const std::size_t count = finding.samples.size();
  const auto all = [fd](const void* data, std::size_t size) {
    for (const auto* at = static_cast<const char*>(data); size > 0;) {
      const ssize_t sent = write(fd, at, size);
      if (sent <= 0) _exit(1);
      at += sent;
      size -= static_cast<std::size_t>(sent);
    }
  };
  all(&finding.turns, sizeof finding.turns);
  all(&count, sizeof count);
  all(finding.samples.data(), count * sizeof(double));
}

Finding receive(int fd) {
  Finding finding;
  std::size_t count = 0;
  const auto all = [fd](void* data, std::size_t size) {
    for (auto* at = static_cast<char*>(data); size > 0;) {
      const ssize_t got = read(fd, at, size);
      if (got <= 0) give_up("a process of the benchmark failed");
      at += got;
      size -= static_cast<std::size_t>(got);
    }
  };
  all(&finding.turns, sizeof finding.turns);
  all(&count, sizeof count);
  finding.samples.resize(count);
  all(finding.samples.data(), count * sizeof(double));
  return finding;
}

// One process: gets ready, says so, and runs `loop` when all are.
using Loop = std::function<Finding(Shared&)>;
using Prepare = std::function<Loop(int number)>;

std::vector<Finding> run_processes(int count, const Prepare& prepare) {
  auto* shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<int> pipes;
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    int ends[2];
    if (pipe(ends) != 0) give_up("no pipe");
    const pid_t child = fork();
    if (child == 0) {
      const Loop loop = prepare(i);
      ++shared->ready;
      while (!shared->go) std::this_thread::sleep_for(1ms);
      send(ends[1], loop(*shared));
      _exit(0);
    }
    close(ends[1]);
    pipes.push_back(ends[0]);
    children.push_back(child);
  }
  while (shared->ready < count) std::this_thread::sleep_for(1ms);
  shared->go = true;
  std::vector<Finding> findings;
  for (const int fd : pipes) {
    findings.push_back(receive(fd));
    close(fd);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  munmap(shared, sizeof(Shared));
  return findings;
}

Finding hand_on(Shared& shared, const Lock& lock, int number) {
  Finding finding;
  // Not the same each time: what is done in a rhythm meets what others do in theirs always or never.
  std::minstd_rand random(static_cast<unsigned>(number) + 1);
  std::uniform_int_distribution<std::int64_t> held_for(kHold / 2us, kHold * 3 / 2us);
  const auto start = Clock::now();
  for (const auto end = start + kWarmUp + kTurnsTime; Clock::now() < end;) {
    lock.take();
    const std::int64_t now = nanoseconds();
    const std::int64_t released = shared.released_at;
    const bool is_handed_on = shared.holder.exchange(number + 1) != number + 1 && released != 0;
    if (Clock::now() > start + kWarmUp) {
      ++finding.turns;
      if (is_handed_on) finding.samples.push_back(static_cast<double>(now - released) / 1e3);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(held_for(random)));
    shared.released_at = nanoseconds();
    lock.give_back();
    while (shared.holder == number + 1 && Clock::now() < end) std::this_thread::sleep_for(200us);
  }
  return finding;
}

Lock file_lock(const std::string& folder) {
  const int fd = open((folder + "/flock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  return {[fd] { flock(fd, LOCK_EX); }, [fd] { flock(fd, LOCK_UN); }};
}

Lock postgres_lock(const Postgres& server) {
  PGconn* connection = PQconnectdb(server.connection().c_str());
  if (PQstatus(connection) != CONNECTION_OK) give_up(PQerrorMessage(connection));
  const auto ask = [connection](const char* sql) { PQclear(PQexec(connection, sql)); };
  return {[ask] { ask("SELECT pg_advisory_lock(42)"); }, [ask] { ask("SELECT pg_advisory_unlock(42)"); }};
}

Finding hammer(const std::function<void()>& pair) {
  Finding finding;
  for (const auto end = Clock::now() + kCrowdTime; Clock::now() < end;) {
    const auto start = Clock::now();
    pair();
    finding.samples.push_back(microseconds_since(start));
    ++finding.turns;
  }
  return finding;
}

void report_crowd(Report& report, const std::string& what, const std::vector<Finding>& findings,
                  double* rate) {
  std::vector<double> turns;
  std::vector<double> samples;
  for (const Finding& one : findings) {
    turns.push_back(one.turns);
    samples.insert(samples.end(), one.samples.begin(), one.samples.end());
  }
  const double all = std::accumulate(turns.begin(), turns.end(), 0.0);
  const double seconds = std::chrono::duration<double>(kCrowdTime).count();
  Figure total = {what + ", 8 processes", all / seconds, "pairs/s"};
  if (*rate > 0) {
    total.against = "that";
    total.ratio = all / seconds / *rate;
  }
  *rate = all / seconds;
  report.add(std::move(total));
  report.add({what + ": slowest process's share of the fastest's",
              std::ranges::min(turns) / std::ranges::max(turns), "", "", std::nullopt,
              what == "lease" ? ">= 0.5" : ""});
  report.add({what + ": longest pair", quantile(samples, 1) / 1e3, "ms"});
}

// The same two rows a pair, by SQLite's busy handler instead of a gate.
std::function<void()> bare_pair(const std::string& path, int number) {
  sqlite3* db = nullptr;
  if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) give_up("cannot open " + path);
  sqlite3_busy_timeout(db, 60'000);
  sqlite3_exec(db, "PRAGMA synchronous = NORMAL", nullptr, nullptr, nullptr);
  const std::string take = fmt::format(
      "BEGIN IMMEDIATE; INSERT INTO leases VALUES ('/f{0}', 'agent-{0}', 1); INSERT INTO history VALUES "
      "('/f{0}', "
      "'acquired'); COMMIT",
      number);
  const std::string give_back = fmt::format(
      "BEGIN IMMEDIATE; DELETE FROM leases WHERE path = '/f{0}'; INSERT INTO history VALUES ('/f{0}', "
      "'released'); "
      "COMMIT",
      number);
  return [db, take, give_back] {
    for (const std::string& sql : {take, give_back}) {
      if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) give_up(sqlite3_errmsg(db));
    }
  };
}

}  // namespace

Lock lease_lock(const std::shared_ptr<void>& site, LeaseManager& manager, int number) {
  const Caller who = {{.owner = {fmt::format("agent-{}", number), "s"}}};
  return {[site, &manager, who] {
            must_grant(manager.acquire_and_wait(
                {.caller = who, .paths = {{.path = kContended}}, .wait = Duration(60s)}));
          },
          // By its name, as the others give back theirs.
          [site, &manager, who] {
            if (auto done = manager.release({.caller = who, .which = {.paths = {kContended}}}); !done)
              give_up(done.error().message);
          }};
}

std::vector<double> compare_turns(Report& report, int processes, const std::vector<Contender>& contenders) {
  constexpr int kRuns = 2;
  std::vector<std::vector<double>> handovers(contenders.size());
  std::vector<std::vector<double>> turns(contenders.size(), std::vector<double>(processes));
  // In turn, so that what else the machine does meets all alike.
  for (int run = 0; run < kRuns; ++run) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const auto findings = run_processes(processes, [&](int number) -> Loop {
        return [number, lock = contenders[i].make(number)](Shared& shared) {
          return hand_on(shared, lock, number);
        };
      });
      for (int number = 0; number < processes; ++number) {
        turns[i][number] += findings[number].turns;
        handovers[i].insert(handovers[i].end(), findings[number].samples.begin(),
                            findings[number].samples.end());
      }
    }
  }

  const double seconds = std::chrono::duration<double>(kTurnsTime).count();
  std::vector<double> medians;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const auto what = [&](const char* which) {
      return fmt::format("{}, {} processes: {}", contenders[i].name, processes, which);
    };
    medians.push_back(quantile(handovers[i], 0.5));
    report.add({what("hand-overs"), static_cast<double>(handovers[i].size()) / (kRuns * seconds), "/s"});
    report.add({what("hand-over p50"), medians.back(), "us"});
    report.add({what("slowest's share of the fastest's turns"),
                std::ranges::min(turns[i]) / std::ranges::max(turns[i]), ""});
  }
  return medians;
}

void compare_crowds(Report& report) {
  const Folder folder;
  const std::string bare = folder.path() + "/bare.db";
  sqlite3* db = nullptr;
  sqlite3_open(bare.c_str(), &db);
  sqlite3_exec(
      db,
      "PRAGMA journal_mode = WAL; CREATE TABLE leases (path TEXT PRIMARY KEY, owner TEXT, expires INTEGER); "
      "CREATE TABLE history (path TEXT, event TEXT)",
      nullptr, nullptr, nullptr);
  sqlite3_close(db);
  double rate = 0;
  report_crowd(report, "plain SQLite with busy_timeout",
               run_processes(8,
                             [&](int number) -> Loop {
                               return [pair = bare_pair(bare, number)](Shared&) { return hammer(pair); };
                             }),
               &rate);
  report_crowd(
      report, "lease",
      run_processes(
          8,
          [&](int number) -> Loop {
            auto site = std::make_shared<Site>(folder.path() + "/store");
            return [site, number](Shared&) {
              const std::string path = fmt::format("/f{}", number);
              return hammer([&] {
                must_grant(site->manager().acquire({.caller = caller(number), .paths = {{.path = path}}}));
                if (!site->manager().release({.caller = caller(number), .which = {.paths = {path}}})) {
                  give_up("release failed");
                }
              });
            };
          }),
      &rate);
}

void compare_handover(Report& report) {
  const Postgres server;
  const Folder folder;
  for (const int count : {2, 8, 32}) {
    const std::vector<Contender> contenders = {
        {"flock(2)", [&](int) { return file_lock(folder.path()); }},
        {"pg_advisory_lock", [&](int) { return postgres_lock(server); }},
        {"lease",
         [&](int number) {
           auto site = std::make_shared<Site>(folder.path() + fmt::format("/store{}", count));
           return lease_lock(site, site->manager(), number);
         }},
    };
    const std::vector<double> p50 = compare_turns(report, count, contenders);
    report.add({fmt::format("lease hand-over p50, {} processes", count), p50[2], "us", "pg_advisory_lock",
                p50[2] / p50[1], "<= 1.5"});
  }
}

}  // namespace leasehold::bench
