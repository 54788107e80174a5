#include "store/sqlite/gathered_log.h"

#include <fmt/format.h>

#include <filesystem>

#include "store/sqlite/connection.h"
#include "support/power_cut_vfs.h"
#include "support/raw_sqlite.h"
#include "support/sqlite_place.h"

namespace leasehold {
namespace {

constexpr const char* kVfs = "leasehold-gathered-log";

struct World {
  World() {
    SqliteOptions options = place.options();
    options.vfs = kVfs;
    store = place.open(options);
  }

  // What a process that opens the files just now would find.
  std::string seen_by_others(const std::string& sql) const {
    const TempFolder copy;
    for (const char* end : {"", "-wal"})
      std::filesystem::copy(place.database() + end, copy.path() + "/leases.db" + end);
    return run_sql(copy.path() + "/leases.db", sql);
  }

  SqlitePlace place;
  PowerCutVfs disk{kVfs};
  std::unique_ptr<Store> store;
};

void put_leases(Store& store, int first, int end) {
  commit(store, [&](Transaction& transaction) {
    for (int i = first; i < end; ++i) transaction.put(make_lease(i, fmt::format("/file/{}", i)));
  });
}

TEST(GatheredLog, ACommitIsOneWrite) {
  const World world;
  put_leases(*world.store, 0, 1);
  const int before = world.disk.steps();

  put_leases(*world.store, 1, 2);

  EXPECT_EQ(world.disk.steps(), before + 1);
  EXPECT_EQ(world.seen_by_others("SELECT count(*) FROM leases"), "2\n");
}

TEST(GatheredLog, ALargeCommitIsWhole) {
  const World world;

  put_leases(*world.store, 0, 3'000);

  EXPECT_EQ(world.seen_by_others("SELECT count(*) FROM leases; PRAGMA integrity_check"), "3000\nok\n");
}

// SQLite has written pages before the commit, writes them again where they stand in the log, and then the
// sums of all behind them.
TEST(GatheredLog, PagesThatAreInTheLogAlreadyAreWhole) {
  const World world;
  const auto connection = sqlite::Connection::open(world.place.database(), kVfs, false).value();
  const int before = world.disk.steps();
  connection->execute(
      "PRAGMA synchronous = NORMAL; PRAGMA cache_size = 10; PRAGMA cache_spill = 10; BEGIN IMMEDIATE;"
      "CREATE TABLE numbers (n INTEGER PRIMARY KEY, text TEXT);"
      "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2000)"
      " INSERT INTO numbers SELECT n, printf('%0300d', n) FROM n;"
      "UPDATE numbers SET text = printf('%0299d!', n) WHERE n % 7 = 0");
  ASSERT_GT(world.disk.steps(), before + 100) << "nothing was written before the commit";

  connection->commit();

  EXPECT_EQ(
      world.seen_by_others(
          "SELECT count(*), sum(length(text)), sum(text LIKE '%!') FROM numbers; PRAGMA integrity_check"),
      "2000|600000|285\nok\n");
}

// There the file is a journal, which a commit closes.
TEST(GatheredLog, AFileThatIsClosedMeanwhileStaysClosed) {
  const TempFolder folder;
  const std::string path = folder.path() + "/plain.db";
  run_sql(path, "CREATE TABLE numbers (n)");
  const auto connection = sqlite::Connection::open(path, nullptr, false).value();
  connection->execute("BEGIN IMMEDIATE; INSERT INTO numbers VALUES (1)");
  sqlite3_file* journal = nullptr;
  sqlite3_file_control(connection->handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER,
                       static_cast<void*>(&journal));
  ASSERT_NE(journal->pMethods, nullptr);
  {
    std::string buffer;
    const sqlite::GatheredLog gathering(journal, buffer);
    connection->execute("COMMIT");
  }
  EXPECT_EQ(journal->pMethods, nullptr);
}

TEST(GatheredLog, WhatFailsIsNotWrittenLater) {
  World world;
  put_leases(*world.store, 0, 1);
  world.disk.fail_after(0);
  ASSERT_FALSE(
      try_commit(*world.store, [](Transaction& transaction) { transaction.put(make_lease(1, "/failed")); }));
  world.disk.fail_after(1'000'000);

  put_leases(*world.store, 2, 3);

  EXPECT_EQ(world.seen_by_others("SELECT count(*) FROM leases WHERE file_path = '/failed'"), "0\n");
  EXPECT_EQ(world.seen_by_others("SELECT count(*) FROM leases; PRAGMA integrity_check"), "2\nok\n");
}

}  // namespace
}  // namespace leasehold
