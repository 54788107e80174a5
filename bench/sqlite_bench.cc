// The embedded store against what it stands on: the same rows written by a bare loop of SQL, the same files
// one by one, the same store when it is nearly empty. And hand-over against flock(2) and PostgreSQL.
#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <vector>

#include "handover.h"
#include "report.h"
#include "site.h"

namespace leasehold::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Pairs {
  std::vector<double> acquires;
  std::vector<double> releases;

  double pairs_per_second() const {
    double total = 0;
    for (const double one : acquires) total += one;
    for (const double one : releases) total += one;
    return 1e6 * static_cast<double>(acquires.size()) / total;
  }
};

std::string file_name(int number) { return fmt::format("/services/api/src/module/file_{}.ts", number); }

void one_pair(LeaseManager& manager, const Caller& who, const std::string& path, Pairs& found) {
  auto start = Clock::now();
  must_grant(manager.acquire({.caller = who, .paths = {{.path = path}}}));
  found.acquires.push_back(microseconds_since(start));
  start = Clock::now();
  if (auto done = manager.release({.caller = who, .which = {.paths = {path}}}); !done)
    give_up(done.error().message);
  found.releases.push_back(microseconds_since(start));
}

// What a program would write itself: one transaction to take, one to give back, with the rows we write.
class BareLoop {
 public:
  explicit BareLoop(const std::string& folder) {
    check(sqlite3_open((folder + "/leases.db").c_str(), &db_));
    sqlite3_exec(db_, "PRAGMA synchronous = NORMAL", nullptr, nullptr, nullptr);
    begin_ = prepare("BEGIN IMMEDIATE");
    commit_ = prepare("COMMIT");
    insert_ = prepare(
        "INSERT INTO leases (id, workspace, file_path, agent_id, session_id, host, machine_id, boot_id, "
        "pid_namespace,"
        " pid, start_time, token, status, created_at, updated_at, expires_at, ttl_seconds, created_ns, "
        "acquired_ns,"
        " expires_ns, heartbeat_ns, updated_ns, deadline_ns, ttl_ms, group_id) VALUES (?1, '#1', ?2,"
        " 'claude-0000', '7d0c5b0e-52a1-4c1f-9a55-2f6d1f0a8f11', 'workstation', "
        "'4c3b0f0e6a7d4d0fb1a2c3d4e5f60718',"
        " '0f8fad5b-d9cb-469f-a165-70867728950e', 4026531836, 4242, 123456, 1760000000000000 + ?3, 'active',"
        " 1760000000, 1760000000, 1760000300, 300, 5000000000000 + ?3, 5000000000000 + ?3, 5300000000000 + "
        "?3,"
        " 5000000000000 + ?3, 5000000000000 + ?3, 5300000000000 + ?3, 300000, ?1)");
    update_ = prepare(
        "UPDATE leases SET status = 'released', updated_at = 1760000000, updated_ns = 5000000000000 + ?3,"
        " deadline_ns = 5000000000000 + ?3 WHERE id = ?1");
    append_ = prepare(
        "INSERT INTO lease_history (workspace, event_at, id, event_type, lease_id, group_id, agent_id, "
        "session_id,"
        " file_path, token, status_after, event_ns, event_us, reason) VALUES ('#1', 1760000000,"
        " printf('%016d', 1000000000 + ?3), ?4, ?1, ?1, 'claude-0000', "
        "'7d0c5b0e-52a1-4c1f-9a55-2f6d1f0a8f11', ?2,"
        " 1760000000000000 + ?3, 'active', 5000000000000 + ?3, 1760000000000000 + ?3, '')");
  }
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;
  ~BareLoop() {
    for (sqlite3_stmt* one : {begin_, commit_, insert_, update_, append_}) sqlite3_finalize(one);
    sqlite3_close(db_);
  }

  void one_pair(const std::string& path, Pairs& found) {
    const std::string id = make_uuid(random_);
    auto start = Clock::now();
    run(begin_, id, path);
    run(insert_, id, path);
    run(append_, id, path, "acquired");
    run(commit_, id, path);
    found.acquires.push_back(microseconds_since(start));
    start = Clock::now();
    run(begin_, id, path);
    run(update_, id, path);
    run(append_, id, path, "released");
    run(commit_, id, path);
    found.releases.push_back(microseconds_since(start));
  }

  // Takes them all in one transaction.
  void take(const std::vector<std::string>& paths) {
    run(begin_, "", "");
    for (const std::string& path : paths) {
      const std::string id = make_uuid(random_);
      run(insert_, id, path);
      run(append_, id, path, "acquired");
    }
    run(commit_, "", "");
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK && code != SQLITE_DONE) give_up(sqlite3_errmsg(db_));
  }

  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* made = nullptr;
    check(sqlite3_prepare_v2(db_, sql, -1, &made, nullptr));
    return made;
  }

  void run(sqlite3_stmt* statement, const std::string& id, const std::string& path, const char* type = "") {
    const int values = sqlite3_bind_parameter_count(statement);
    if (values >= 1) sqlite3_bind_text(statement, 1, id.data(), static_cast<int>(id.size()), SQLITE_STATIC);
    if (values >= 2)
      sqlite3_bind_text(statement, 2, path.data(), static_cast<int>(path.size()), SQLITE_STATIC);
    if (values >= 3) sqlite3_bind_int64(statement, 3, ++number_);
    if (values >= 4) sqlite3_bind_text(statement, 4, type, -1, SQLITE_STATIC);
    check(sqlite3_step(statement));
    sqlite3_reset(statement);
  }

  SystemRandom random_;
  sqlite3* db_ = nullptr;
  sqlite3_stmt *begin_, *commit_, *insert_, *update_, *append_;
  std::int64_t number_ = 0;
};

void compare_with_bare_loop(Report& report) {
  const Folder folder;
  Site ours(folder.path() + "/ours");
  const Site schema(folder.path() + "/bare");
  BareLoop bare(folder.path() + "/bare");
  Pairs our_pairs;
  Pairs bare_pairs;
  for (int i = 0; i < 20'000; ++i) {
    one_pair(ours.manager(), caller(0), file_name(i % 500), our_pairs);
    bare.one_pair(file_name(i % 500), bare_pairs);
  }
  const double ratio = our_pairs.pairs_per_second() / bare_pairs.pairs_per_second();
  report.add({"bare SQL, same rows", bare_pairs.pairs_per_second(), "pairs/s"});
  report.add({"lease, one process", our_pairs.pairs_per_second(), "pairs/s", "bare SQL", ratio, ">= 0.5"});
  for (auto& [what, samples] : {std::pair("bare SQL acquire", &bare_pairs.acquires),
                                std::pair("lease acquire", &our_pairs.acquires)}) {
    report.add({fmt::format("{}: p50", what), quantile(*samples, 0.5), "us"});
    report.add({fmt::format("{}: p99", what), quantile(*samples, 0.99), "us"});
    report.add({fmt::format("{}: longest", what), quantile(*samples, 1), "us"});
  }
}

void fill(Site& site, int count, const char* pattern) {
  constexpr int kBatch = 1'000;
  for (int done = 0; done < count; done += kBatch) {
    AcquireRequest request = {.caller = caller(1), .ttl = Duration(std::chrono::hours(1))};
    for (int i = done; i < done + kBatch; ++i) {
      request.paths.push_back({.path = fmt::format(fmt::runtime(pattern), i / 100, i)});
    }
    must_grant(site.manager().acquire(request));
  }
}

double median_acquire(Site& site, int rounds) {
  Pairs found;
  for (int i = 0; i < rounds; ++i) one_pair(site.manager(), caller(2), file_name(i % 500), found);
  return quantile(found.acquires, 0.5);
}

void compare_sizes(Report& report, int many) {
  const Folder folder;
  Site few(folder.path() + "/few");
  Site lots(folder.path() + "/lots");
  fill(few, 1'000, "/apps/{}/source_{}.cc");
  fill(lots, many, "/apps/{}/source_{}.cc");
  std::vector<double> with_few;
  std::vector<double> with_lots;
  for (int round = 0; round < 20; ++round) {
    with_few.push_back(median_acquire(few, 200));
    with_lots.push_back(median_acquire(lots, 200));
  }
  const double base = quantile(with_few, 0.5);
  const double value = quantile(with_lots, 0.5);
  report.add({"acquire among 1,000 leases: p50", base, "us"});
  report.add(
      {fmt::format("acquire among {} leases: p50", many), value, "us", "that", value / base, "<= 1.5"});

  const auto subtree = [](Site& site, int number) {
    AcquireRequest request = {.caller = caller(3),
                              .paths = {{.path = fmt::format("/docs/{}", number), .subtree = true}}};
    const auto start = Clock::now();
    must_grant(site.manager().acquire(request));
    return microseconds_since(start);
  };
  std::vector<double> alone;
  std::vector<double> crowded;
  for (int i = 0; i < 500; ++i) {
    alone.push_back(subtree(few, i));
    crowded.push_back(subtree(lots, i));
  }
  const double plain = quantile(alone, 0.5);
  const double full = quantile(crowded, 0.5);
  report.add({"subtree acquire, 1,000 leased files elsewhere: p50", plain, "us"});
  report.add({fmt::format("subtree acquire, {} leased files elsewhere: p50", many), full, "us", "that",
              full / plain, "flat"});
}

// The rows by themselves, too: what no engine above them can save.
void compare_batches(Report& report) {
  const Folder folder;
  Site site(folder.path() + "/store");
  const Site schema(folder.path() + "/bare");
  BareLoop bare(folder.path() + "/bare");
  std::vector<double> singly;
  std::vector<double> together;
  std::vector<double> rows;
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> paths;
    AcquireRequest request = {.caller = caller(4)};
    for (int i = 0; i < 100; ++i) {
      paths.push_back(fmt::format("/batch/{}/file_{}.ts", round, i));
      request.paths.push_back({.path = paths.back()});
    }
    auto start = Clock::now();
    bare.take(paths);
    rows.push_back(microseconds_since(start) / 100);
    start = Clock::now();
    must_grant(site.manager().acquire(request));
    together.push_back(microseconds_since(start) / 100);
    start = Clock::now();
    for (int i = 0; i < 100; ++i) {
      must_grant(site.manager().acquire(
          {.caller = caller(4), .paths = {{.path = fmt::format("/single/{}/file_{}.ts", round, i)}}}));
    }
    singly.push_back(microseconds_since(start) / 100);
  }
  const double one = quantile(singly, 0.5);
  const double many = quantile(together, 0.5);
  const double floor = quantile(rows, 0.5);
  report.add({"100 files in 100 acquires: each", one, "us"});
  report.add(
      {"bare SQL, same rows of 100 files in one transaction: each", floor, "us", "singly", floor / one});
  report.add({"100 files in one acquire: each", many, "us", "singly", many / one, "<= 0.125"});
}

void weigh_rows(Report& report) {
  const Folder folder;
  Site site(folder.path() + "/store");
  const auto bytes = [&] {
    sqlite3* db = nullptr;
    if (sqlite3_open((folder.path() + "/store/leases.db").c_str(), &db) != SQLITE_OK)
      give_up("cannot open the store");
    double size = 0;
    const auto read = [](void* to, int, char** values, char**) {
      *static_cast<double*>(to) = std::stod(values[0]);
      return 0;
    };
    sqlite3_exec(db, "SELECT page_count * 4096.0 FROM pragma_page_count", read, &size, nullptr);
    sqlite3_close(db);
    return size;
  };
  const double empty = bytes();
  constexpr int kLeases = 20'000;
  fill(site, kLeases, "/services/api/src/module_{}/file_{}.ts");
  const double full = bytes();
  report.add({"a lease, its history row and all indexes", (full - empty) / kLeases, "bytes"});
  // Each renewal writes one more history row and no lease.
  for (int i = 0; i < 3; ++i) {
    AcquireRequest again = {.caller = caller(1), .ttl = Duration(std::chrono::hours(1))};
    for (int f = 0; f < 1'000; ++f) {
      again.paths.push_back({.path = fmt::format("/services/api/src/module_{}/file_{}.ts", f / 100, f)});
    }
    must_grant(site.manager().acquire(again));
  }
  const double more = bytes();
  report.add({"a history row with its indexes", (more - full) / 3'000, "bytes", "", std::nullopt,
              "250-400 hoped for"});
  report.add({"a lease with its indexes", (full - empty) / kLeases - (more - full) / 3'000, "bytes", "",
              std::nullopt, "200-300 hoped for"});
}

int run(int argc, char** argv) {
  std::string json;
  bool only_hand_over = false;
  int many = 1'000'000;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") {
      many = 100'000;
    } else if (argument == "--only=hand-over") {
      only_hand_over = true;
    } else if (argument.starts_with("--json=")) {
      json = argument.substr(7);
    } else {
      give_up("usage: bench_sqlite [--quick] [--only=hand-over] [--json=FILE]");
    }
  }
  Report report;
  if (!only_hand_over) {
    compare_with_bare_loop(report);
    compare_batches(report);
    weigh_rows(report);
    compare_crowds(report);
  }
  compare_handover(report);
  if (!only_hand_over) compare_sizes(report, many);
  return report.finish(json) ? 0 : 1;
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
