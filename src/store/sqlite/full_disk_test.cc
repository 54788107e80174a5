// A disk that is full: nothing is lost, nothing is granted, and what is held can be given back.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/child.h"
#include "store/sqlite/spare.h"
#include "support/private_mounts.h"
#include "support/raw_sqlite.h"
#include "support/sqlite_place.h"

namespace leasehold {
namespace {

// What a child says; each line is one step.
class Report {
 public:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    text_ += fmt::format(format, std::forward<Values>(values)...) + '\n';
  }
  void tell(const char* step, const Result<void>& done) {
    if (done) {
      add("{}: done", step);
    } else {
      add("{}: {}: {}", step, info(done.error().code).name, done.error().message);
    }
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A store alone on a small disk that nobody else sees. Made in a child process.
class SmallDisk {
 public:
  bool mount_it() const {
    return enter_private_mounts() && mkdir(place.folder().c_str(), 0700) == 0 &&
           mount("none", place.folder().c_str(), "tmpfs", 0, "size=32m,mode=0700") == 0;
  }

  // Takes what is left, also what got free since, to the last byte or almost.
  void fill(std::size_t leave = 0) const {
    const std::string path = place.folder() + "/filler";
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    static const std::string block(4096, 'f');
    while (write(file, block.data(), block.size()) > 0) {
    }
    if (leave > 0) {
      const bool cut = ftruncate(file, lseek(file, 0, SEEK_END) - static_cast<off_t>(leave)) == 0;
      LEASEHOLD_CHECK(cut);
    }
    close(file);
  }
  void free_it() const { unlink((place.folder() + "/filler").c_str()); }

  off_t reserve() const { return size_of("reserve"); }
  off_t size_of(const std::string& name) const {
    struct stat there{};
    return stat((place.folder() + "/" + name).c_str(), &there) == 0 ? there.st_size : -1;
  }

  // A process that takes every byte that gets free, until it is killed.
  std::unique_ptr<Child> keep_filling() const {
    return std::make_unique<Child>([this]() -> std::string {
      for (;;) fill();
    });
  }

  SqlitePlace place;
};

Lease ended(Lease lease) {
  lease.status = Status::released;
  lease.ended_by = EndCause::released;
  return lease;
}

Result<void> acquire(Store& store, int number) {
  return try_commit(store, [&](Transaction& transaction) {
    const Lease lease = make_lease(number, fmt::format("/file/{}", number));
    transaction.put(lease);
    transaction.append(make_event(lease));
  });
}

Result<void> release(Store& store, int number) {
  return try_commit(
      store,
      [&](Transaction& transaction) {
        const Lease lease = ended(transaction.lease(lease_id(number)).value());
        transaction.put(lease);
        transaction.append(make_event(lease));
      },
      true);
}

std::size_t held(Store& store) {
  std::size_t count = 0;
  look(store, [&](View& view) { count = view.leases({}).size(); });
  return count;
}

std::string inside(const std::function<std::string(const SmallDisk&)>& work) {
  const SmallDisk disk;
  const Child child([&] { return disk.mount_it() ? work(disk) : refusal("a small disk"); });
  std::string answer = child.answer();
  // The only name in it that differs from run to run.
  for (std::size_t at = 0; (at = answer.find(disk.place.folder())) != std::string::npos;) {
    answer.replace(at, disk.place.folder().size(), "STORE");
  }
  return answer;
}

constexpr const char* kFull =
    "unavailable: The disk under STORE/leases.db is full; nothing was written. Free some space and try "
    "again. lease release works meanwhile.";

TEST(FullDisk, RefusesToGrantAndLosesNothing) {
  const std::string answer = inside([](const SmallDisk& disk) {
    Report report;
    const auto store = disk.place.open();
    disk.fill();
    // Some find space in what the store has already.
    int granted = 0;
    Result<void> last = acquire(*store, 0);
    while (last && granted < 20'000) last = acquire(*store, ++granted);
    report.tell("acquire", last);
    report.add("lost: {}", static_cast<std::size_t>(granted) - held(*store));
    disk.free_it();
    report.tell("acquire", acquire(*store, granted));
    report.add("lost: {}", static_cast<std::size_t>(granted) + 1 - held(*store));
    report.add("check: {}", run_sql(disk.place.database(), "PRAGMA integrity_check"));
    return report.text();
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, fmt::format("acquire: {}\n"
                                "lost: 0\n"
                                "acquire: done\n"
                                "lost: 0\n"
                                "check: ok\n\n",
                                kFull));
}

// What a young store has is in its log, and the database has to grow by it before the log can begin anew.
TEST(FullDisk, WhatIsStillInTheLogCanBeGivenBackToo) {
  const std::string answer = inside([](const SmallDisk& disk) {
    constexpr int kLeases = 5'000;
    Report report;
    const auto store = disk.place.open();
    for (int first = 0; first < kLeases; first += 500) {
      const auto taken = try_commit(*store, [&](Transaction& transaction) {
        for (int i = first; i < first + 500; ++i) transaction.put(make_lease(i, fmt::format("/file/{}", i)));
      });
      if (!taken) report.tell("acquire", taken);
    }
    report.add("much is in the log: {}", disk.size_of("leases.db-wal") > 2'000'000);
    disk.fill();
    for (int i = 0; i < 200; ++i) {
      if (const auto done = release(*store, i); !done) report.tell("release", done);
    }
    report.add("held: {}", held(*store));
    return report.text();
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, "much is in the log: true\nheld: 4800\n");
}

TEST(FullDisk, WhoeverAcquiresLeavesEnoughToGiveBack) {
  const std::string answer = inside([](const SmallDisk& disk) {
    Report report;
    const auto store = disk.place.open();
    int acquired = 0;
    int released = 0;
    while (acquired < 100) (void)acquire(*store, acquired++);
    run_sql(disk.place.database(), "PRAGMA wal_checkpoint(TRUNCATE)");
    disk.fill();
    report.add("reserve: {}", disk.reserve());
    for (int round = 0; round < 20; ++round) {
      while (acquired < 500 && acquire(*store, acquired)) ++acquired;
      if (released == acquired) continue;
      if (const auto done = release(*store, released++); !done) report.tell("release", done);
    }
    while (released < acquired && report.text().size() < 1'000) {
      if (const auto done = release(*store, released++); !done) report.tell("release", done);
    }
    report.add("held: {}", held(*store));
    report.add("check: {}", run_sql(disk.place.database(), "PRAGMA integrity_check"));
    return report.text();
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer,
            "reserve: 1048576\n"
            "held: 0\n"
            "check: ok\n\n");
}

// The log grows long before it is moved into the file.
TEST(FullDisk, ALogThatFillsTheDiskMakesRoom) {
  const std::string answer = inside([](const SmallDisk& disk) {
    Report report;
    const auto store = disk.place.open();
    // Leaves a few hundred pages.
    disk.fill(4 << 20);
    for (int i = 0; i < 1'000 && report.text().size() < 1'000; ++i) {
      const auto done =
          try_commit(*store, [](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });
      if (!done) report.tell("put", done);
    }
    report.add("held: {}, reserve: {}", held(*store), disk.reserve());
    return report.text();
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, "held: 1, reserve: 1048576\n");
}

TEST(FullDisk, LeasesCanBeGivenBackOneByOne) {
  const std::string answer = inside([](const SmallDisk& disk) {
    constexpr int kLeases = 100;
    Report report;
    const auto store = disk.place.open();
    for (int i = 0; i < kLeases; ++i) (void)acquire(*store, i);
    report.add("held: {}, reserve: {}", held(*store), disk.reserve());
    disk.fill();
    for (int i = 0; i < kLeases && report.text().size() < 1'000; ++i) {
      if (const auto done = release(*store, i); !done) report.tell("release", done);
    }
    report.add("held: {}", held(*store));
    report.add("check: {}", run_sql(disk.place.database(), "PRAGMA integrity_check"));
    return report.text();
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer,
            "held: 100, reserve: 1048576\n"
            "held: 0\n"
            "check: ok\n\n");
}

// As `lease release` does it: each time a process of its own.
TEST(FullDisk, AStoreThatIsOpenedAnewGivesBackToo) {
  const std::string answer = inside([](const SmallDisk& disk) {
    Report report;
    for (int i = 0; i < 20; ++i) (void)acquire(*disk.place.open(), i);
    disk.fill();
    for (int i = 0; i < 20 && report.text().size() < 1'000; ++i) {
      const auto store = disk.place.try_open();
      if (!store) {
        report.add("open {}: {}", i, store.error().message);
      } else if (const auto done = release(**store, i); !done) {
        report.tell("release", done);
      }
    }
    disk.free_it();
    report.add("held: {}", held(*disk.place.open()));
    return report.text();
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, "held: 0\n");
}

// Whoever comes alone has SQLite make its index anew, and somebody else took the old one's space.
TEST(FullDisk, AStoreWithoutSpaceForItsIndexIsReadAndGivesBack) {
  const std::string answer = inside([](const SmallDisk& disk) {
    Report report;
    for (int i = 0; i < 10; ++i) (void)acquire(*disk.place.open(), i);
    for (int i = 0; i < 10; ++i) {
      if (truncate((disk.place.database() + "-shm").c_str(), 0) != 0) return refusal("truncate");
      disk.fill();
      const auto store = disk.place.try_open();
      if (!store) {
        report.add("open {}: {}", i, store.error().message);
        continue;
      }
      if (held(**store) != static_cast<std::size_t>(10 - i)) report.add("held: {}", held(**store));
      if (const auto done = release(**store, i); !done) report.tell("release", done);
    }
    report.tell("acquire", acquire(*disk.place.open(), 10));
    disk.free_it();
    report.add("held: {}", held(*disk.place.open()));
    report.tell("acquire", acquire(*disk.place.open(), 10));
    report.add("check: {}", run_sql(disk.place.database(), "PRAGMA integrity_check"));
    return report.text();
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, fmt::format("acquire: {}\nheld: 0\nacquire: done\ncheck: ok\n\n", kFull));
}

// Somebody takes all that gets free, somebody reads so that the log cannot be moved, and others ask for more.
TEST(FullDisk, ThatOthersKeepFillingTakesNothingFromThoseWhoGiveBack) {
  const std::string answer = inside([](const SmallDisk& disk) {
    constexpr int kLeases = 10;
    Report report;
    for (int i = 0; i < kLeases; ++i) (void)acquire(*disk.place.open(), i);
    sqlite3* reader = nullptr;
    sqlite3_open(disk.place.database().c_str(), &reader);
    sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM leases", nullptr, nullptr, nullptr);
    disk.fill();
    const auto filler = disk.keep_filling();
    int refused = 0;
    for (int i = 0; i < 20; ++i) refused += acquire(*disk.place.open(), kLeases + i) ? 0 : 1;
    report.add("denied: {}, reserve: {}", refused, disk.reserve());
    for (int i = 0; i < kLeases && report.text().size() < 1'000; ++i) {
      if (const auto done = release(*disk.place.open(), i); !done) report.tell("release", done);
    }
    sqlite3_close(reader);
    report.add("held: {}", held(*disk.place.open()));
    return report.text();
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, "denied: 20, reserve: 1048576\nheld: 0\n");
}

TEST(FullDisk, AStoreCannotBeMadeOnIt) {
  const std::string answer = inside([](const SmallDisk& disk) {
    disk.fill();
    const auto store = disk.place.try_open();
    std::string text =
        store ? "opened" : fmt::format("{}: {}\n", info(store.error().code).name, store.error().message);
    disk.free_it();
    return text + (disk.place.try_open() ? "opened" : "not opened");
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer,
            "unavailable: The disk under STORE/gate is full; nothing was written. Free some space and try "
            "again.\nopened");
}

TEST(FullDisk, ASpentReserveIsFilledAgainWhenTheLogIsMoved) {
  const std::string answer = inside([](const SmallDisk& disk) {
    const auto store = disk.place.open();
    if (truncate((disk.place.folder() + "/reserve").c_str(), 0) != 0) return refusal("truncate");
    int transactions = 0;
    while (disk.reserve() != 1 << 20 && ++transactions < 5'000) {
      commit(*store, [&](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });
    }
    return fmt::format("filled again: {}", transactions < 5'000);
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, "filled again: true");
}

}  // namespace
}  // namespace leasehold
