// What the contract suite cannot ask of every store: how connections are shared, how the log is kept short.
#include "store/sqlite/sqlite_store.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "env/child.h"
#include "store/sqlite/schema.h"
#include "support/raw_sqlite.h"
#include "support/sqlite_place.h"

namespace leasehold {
namespace {

// A connection that is handed on must be nobody else's any more.
TEST(SqliteStore, ThreadsThatReadAndWriteDoNotDisturbEachOther) {
  const SqlitePlace place;
  const auto store = place.open();
  commit(*store, [](Transaction& transaction) { transaction.put(make_lease(0, "/a")); });
  std::atomic<int> failures = 0;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        const auto looked = store->view({.workspace = kWorkspace}, [](View& view) -> Result<void> {
          (void)view.lease_count(ann());
          return {};
        });
        if (!looked) ++failures;
      }
    });
  }

  for (int i = 0; i < 500; ++i) {
    if (!try_commit(*store, [&](Transaction& transaction) { transaction.put(make_lease(i, "/a")); }))
      ++failures;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(failures, 0);
  look(*store, [](View& view) { EXPECT_EQ(view.leases({}).size(), 500U); });
}

// Calls of a group share what they know, up to a point.
TEST(SqliteStore, ALargeGroupIsKeptWhole) {
  const SqlitePlace place;
  const auto store = place.open();
  constexpr int kCalls = 6;
  constexpr int kLeases = 900;
  const auto kept = store->together([&] {
    for (int call = 0; call < kCalls; ++call) {
      commit(*store, [&](Transaction& transaction) {
        for (int i = 0; i < kLeases; ++i) {
          const int number = call * kLeases + i;
          transaction.put(make_lease(number, fmt::format("/{}", number)));
        }
        EXPECT_EQ(transaction.lease_count(ann()), static_cast<std::size_t>((call + 1) * kLeases));
      });
      // What an earlier call wrote can be changed, whether or not that is still known.
      commit(*store, [&](Transaction& transaction) {
        Lease first = *transaction.lease(lease_id(0));
        EXPECT_EQ(first.renewal_count, call);
        ++first.renewal_count;
        transaction.put(first);
      });
    }
  });

  EXPECT_TRUE(kept);
  look(*store, [&](View& view) {
    EXPECT_EQ(view.leases({}).size(), static_cast<std::size_t>(kCalls * kLeases));
    EXPECT_EQ(view.lease_count(ann()), static_cast<std::size_t>(kCalls * kLeases));
    EXPECT_EQ(view.lease(lease_id(0))->renewal_count, kCalls);
  });
}

// A transaction remembers only so many of the leases it read.
TEST(SqliteStore, OfManyLeasesEachIsWrittenAsItIs) {
  constexpr int kLeases = 1'200;
  const SqlitePlace place;
  const auto store = place.open();
  commit(*store, [&](Transaction& transaction) {
    for (int i = 0; i < kLeases; ++i) transaction.put(make_lease(i, fmt::format("/{}", i)));
  });

  commit(*store, [&](Transaction& transaction) {
    for (Lease& lease : transaction.leases({})) {
      lease.renewal_count = 7;
      transaction.extend(lease);
      EXPECT_EQ(transaction.lease(lease.id), lease);
    }
    for (Lease& lease : transaction.leases({})) {
      lease.reason = "changed";
      transaction.put(lease);
      EXPECT_EQ(transaction.lease(lease.id), lease);
    }
  });

  look(*store, [](View& view) {
    const std::vector<Lease> leases = view.leases({});
    EXPECT_EQ(leases.size(), static_cast<std::size_t>(kLeases));
    for (const Lease& lease : leases) EXPECT_TRUE(lease.renewal_count == 7 && lease.reason == "changed");
  });
}

// Those that change alike are written together.
TEST(SqliteStore, OfLeasesThatChangeAtOnceEachChangesInItsWay) {
  constexpr int kLeases = 2'500;
  const SqlitePlace place;
  const auto store = place.open();
  std::vector<Lease> wanted;
  for (int i = 0; i < kLeases; ++i) wanted.push_back(make_lease(i, fmt::format("/{}", i)));
  commit(*store, [&](Transaction& transaction) {
    for (const Lease& lease : wanted) transaction.put(lease);
  });

  commit(*store, [&](Transaction& transaction) {
    for (int i = 0; i < kLeases; ++i) {
      Lease& lease = wanted[i];
      if (i % 400 < 3) {
        lease.status = Status::released;
        lease.ended_by = i % 400 == 2 ? EndCause::forced : EndCause::released;
        transaction.put(lease);
      } else {
        lease.renewal_count = i < 2'000 ? 1 : 2;
        transaction.extend(lease);
      }
    }
  });

  look(*store, [&](View& view) {
    for (const Lease& lease : wanted) EXPECT_EQ(view.lease(lease.id), lease);
  });
}

TEST(SqliteStore, ALeaseThatIsNotFoundWhenItIsWrittenIsCorrupt) {
  const SqlitePlace place;
  const auto store = place.open();
  commit(*store, [&](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });

  const auto extend = [&](Transaction& transaction) {
    transaction.put(make_lease(3, "/c"));
    transaction.extend(make_lease(2, "/b"));
  };
  EXPECT_ERROR(try_commit(*store, extend), Code::corrupt, "not found where it was read", "lease doctor");
  look(*store, [](View& view) { EXPECT_EQ(view.leases({}).size(), 1U); });
}

// More than a transaction remembers: by their ids, not their rows.
TEST(SqliteStore, ThousandsOfLeasesAreReadAndWrittenAlike) {
  constexpr int kMany = 5'000;
  const SqlitePlace place;
  const auto store = place.open();
  commit(*store, [&](Transaction& transaction) {
    for (int i = 0; i < kMany; ++i) transaction.put(make_lease(i, fmt::format("/{}", i)));
  });

  commit(*store, [&](Transaction& transaction) {
    for (Lease& lease : transaction.leases({})) {
      lease.expires_at += std::chrono::hours(1);
      transaction.extend(lease);
      EXPECT_EQ(transaction.lease(lease.id)->expires_at, lease.expires_at);
      lease.status = Status::released;
      transaction.put(lease);
      EXPECT_EQ(transaction.lease(lease.id)->status, Status::released);
    }
  });

  look(*store, [](View& view) {
    EXPECT_TRUE(view.leases({}).empty());
    for (int i = 0; i < kMany; ++i) {
      const auto lease = view.lease(make_lease(i, "/").id);
      ASSERT_TRUE(lease && lease->status == Status::released && lease->path == fmt::format("/{}", i)) << i;
    }
  });
}

// As a copy made by VACUUM INTO is.
TEST(SqliteStore, AFileWithoutALogGetsOneAgain) {
  const SqlitePlace place;
  const auto put = [](Store& store, int number) {
    commit(store, [&](Transaction& transaction) {
      transaction.put(make_lease(number, fmt::format("/{}", number)));
    });
  };
  put(*place.open(), 1);
  ASSERT_EQ(run_sql(place.database(), "PRAGMA journal_mode = DELETE"), "delete\n");

  const auto store = place.open();
  put(*store, 2);
  put(*store, 3);

  EXPECT_EQ(run_sql(place.database(), "PRAGMA journal_mode; SELECT count(*) FROM leases"), "wal\n3\n");
}

TEST(SqliteStore, TheLogIsKeptShort) {
  const SqlitePlace place;
  SqliteOptions options = place.options();
  options.log_pages_max = 50;
  const auto store = place.open(options);

  for (int i = 0; i < 300; ++i) {
    commit(*store, [&](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });
  }

  int busy = 0;
  int pages = 1'000;
  const std::string log = run_sql(place.database(), "PRAGMA wal_checkpoint");
  std::sscanf(log.c_str(), "%d|%d", &busy, &pages);
  EXPECT_LT(pages, 200) << log;
}

// Nothing outside the gate may move it into the file (correctness.md 6.3).
TEST(SqliteStore, TheLogStaysWhenTheLastProcessLeaves) {
  const SqlitePlace place;
  const auto bytes = [&] {
    std::ifstream file(place.database(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::string before;
  {
    const auto store = place.open();
    before = bytes();
    commit(*store, [](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });
  }

  EXPECT_EQ(bytes(), before) << "all of it is in the log";
  look(*place.open(), [](View& view) { EXPECT_EQ(view.leases({}).size(), 1U); });
}

// Without its log a young store must not look like a new one.
TEST(SqliteStore, WhatMakesItAStoreIsInTheFile) {
  const SqlitePlace place;
  (void)place.open();
  std::filesystem::remove(place.database() + "-wal");

  EXPECT_EQ(run_sql(place.database(), "SELECT count(*) FROM store"), "1\n");
}

TEST(SqliteStore, ALogThatIsNoneIsCorrupt) {
  const SqlitePlace place;
  {
    const auto store = place.open();
    commit(*store, [](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });
  }
  std::ofstream(place.database() + "-wal") << "this is not a log";

  EXPECT_ERROR(place.try_open(), Code::corrupt, "leases.db-wal", "lease doctor");
}

// What is granted in a file that has no name any more, nobody else would know of.
TEST(SqliteStore, AFileThatWasReplacedIsUsedNoLonger) {
  const SqlitePlace place;
  const auto old = place.open();
  commit(*old, [](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(place.database() + end);
  const auto gone = try_commit(*old, [](Transaction& transaction) { transaction.put(make_lease(2, "/b")); });
  const auto fresh = place.open();
  commit(*fresh, [](Transaction& transaction) { transaction.put(make_lease(3, "/c")); });

  EXPECT_ERROR(gone, Code::unavailable, place.database());
  look(*old, [](View& view) { EXPECT_EQ(view.leases({}).size(), 1U); });
  commit(*old, [](Transaction& transaction) { transaction.put(make_lease(4, "/d")); });
  look(*fresh, [](View& view) { EXPECT_EQ(view.leases({}).size(), 2U); });
}

TEST(SqliteStore, PipesOfKilledWaitersAreClearedWithTheLog) {
  const SqlitePlace place;
  const std::string pipe = place.folder() + "/bells/" + group_id(1).text;
  Child waiter([&] {
    const auto store = place.open();
    const auto bell = store->listen(kWorkspace, group_id(1));
    return Child::rest();
  });
  for (int i = 0; i < 10'000 && !std::filesystem::exists(pipe); ++i) usleep(1'000);
  ASSERT_TRUE(std::filesystem::exists(pipe));
  waiter.kill();
  waiter.reap();
  SqliteOptions options = place.options();
  options.log_pages_max = 0;
  const auto store = place.open(options);

  commit(*store, [](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });

  EXPECT_FALSE(std::filesystem::exists(pipe));
}

// Whoever comes first makes the file; the others find it made.
TEST(SqliteStore, ManyMayOpenAFreshFileAtOnce) {
  const SqlitePlace place;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(std::make_unique<Child>([&, i] {
      const auto store = place.try_open();
      if (!store) return store.error().message;
      const auto done = try_commit(
          **store, [&](Transaction& transaction) { transaction.put(make_lease(i, fmt::format("/{}", i))); });
      return done ? std::string("done") : done.error().message;
    }));
  }

  for (const auto& child : children) EXPECT_EQ(child->answer(), "done");
  EXPECT_EQ(run_sql(place.database(),
                    "SELECT count(*) FROM leases; SELECT count(*) FROM store; "
                    "SELECT count(*) FROM migrations WHERE status = 'success'"),
            fmt::format("8\n1\n{}\n", sqlite::latest_version()));
}

}  // namespace
}  // namespace leasehold
