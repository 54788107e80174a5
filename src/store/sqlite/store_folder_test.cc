// What may stand where a store should be, and what each of these is answered with.
#include "store/sqlite/store_folder.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "env/child.h"
#include "support/private_mounts.h"
#include "support/raw_sqlite.h"
#include "support/sqlite_place.h"

namespace leasehold {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, std::streamoff at, const std::string& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(at);
  file << bytes;
}

// "open: unavailable: why", as a child tells it.
std::string told(const Result<std::unique_ptr<Store>>& opened) {
  if (opened) return "opened";
  return fmt::format("{}: {}", info(opened.error().code).name, opened.error().message);
}

std::string mode_of(const std::string& path) {
  struct stat there{};
  if (lstat(path.c_str(), &there) != 0) return "missing";
  return fmt::format("{:o}", there.st_mode & 07777);
}

TEST(StoreFolder, IsMadeWithItsParents) {
  const SqlitePlace place;
  SqliteOptions options = place.options();
  options.folder = place.temp.path() + "/a/b/c";

  EXPECT_TRUE(place.open(options));

  EXPECT_EQ(mode_of(place.temp.path() + "/a"), "700");
  EXPECT_EQ(mode_of(options.folder), "700");
}

TEST(StoreFolder, NothingInItIsForOthers) {
  const mode_t before = umask(0);
  const SqlitePlace place;
  const auto store = place.open();
  const auto bell = store->listen(kWorkspace, group_id(1));
  ASSERT_TRUE(bell);
  commit(*store, [](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });
  umask(before);

  std::map<std::string, std::string> modes;
  for (const auto& entry : fs::recursive_directory_iterator(place.folder())) {
    modes[fs::relative(entry.path(), place.folder())] = mode_of(entry.path());
  }

  const std::map<std::string, std::string> expected = {
      {"bells", "700"},         {"bells/" + group_id(1).text, "600"},
      {"gate", "600"},          {"leases.db", "600"},
      {"leases.db-shm", "600"}, {"leases.db-wal", "600"},
      {"reserve", "600"},
  };
  EXPECT_EQ(modes, expected);
  EXPECT_EQ(mode_of(place.folder()), "700");
}

TEST(StoreFolder, FilesThatOthersCouldReadAreClosedToThem) {
  const SqlitePlace place;
  (void)place.open();
  for (const char* end : {"", "-wal", "-shm"}) chmod((place.database() + end).c_str(), 0644);

  (void)place.open();

  for (const char* end : {"", "-wal", "-shm"}) EXPECT_EQ(mode_of(place.database() + end), "600") << end;
}

TEST(StoreFolder, WhereNothingMayBeWrittenSaysWhoToAsk) {
  const SqlitePlace place;
  fs::create_directory(place.folder());
  chmod(place.temp.path().c_str(), 0755);
  chmod(place.folder().c_str(), 0555);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(place.folder().c_str(), 65534, 65534), 0);
  }

  const Child nobody([&] {
    // The superuser may write anywhere.
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return refusal("to be nobody");
    return told(place.try_open());
  });
  const std::string answer = nobody.answer();
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, fmt::format("unavailable: Cannot make the folder {}/bells: Permission denied. Check who "
                                "owns the folder around it, its mode, and the space left.",
                                place.folder()));
}

TEST(StoreFolder, AStoreOfSomebodyElseIsNotOpened) {
  const SqlitePlace place;
  if (geteuid() != 0) GTEST_SKIP() << "only the superuser can make a store of somebody else";
  (void)place.open();
  chmod(place.temp.path().c_str(), 0755);
  chmod(place.folder().c_str(), 0755);

  const Child nobody([&] {
    if (setgid(65534) != 0 || setuid(65534) != 0) return refusal("to be nobody");
    return told(place.try_open());
  });
  const std::string answer = nobody.answer();
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer,
            fmt::format(
                "unavailable: The store {} belongs to another user (uid 0), and you are 65534. Work as that "
                "user, or have it run lease serve --listen HOST:PORT and make you a token (lease token "
                "create --agent NAME): then "
                "set LEASE_STORE=http://HOST:PORT and LEASE_TOKEN.",
                place.folder()));
}

TEST(StoreFolder, AReadOnlyFileSystemSaysSo) {
  const SqlitePlace place;
  (void)place.open();
  const std::string path = place.folder();
  const Child child([&] {
    if (!enter_private_mounts()) return refusal("mounts of its own");
    if (mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
        mount(nullptr, path.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return refusal("a read-only mount");
    }
    return told(place.try_open());
  });
  const std::string answer = child.answer();
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, fmt::format("unavailable: Cannot open the store {}: Read-only file system. Check who "
                                "owns the folder around it, its mode, and the space left.",
                                place.database()));
}

TEST(StoreFolder, AFolderInPlaceOfTheFileIsLeftAlone) {
  const SqlitePlace place;
  fs::create_directories(place.database());

  EXPECT_ERROR(place.try_open(), Code::config_error, place.database(), "is a folder", "Move it away");
}

TEST(StoreFolder, APipeInPlaceOfTheFileIsLeftAlone) {
  const SqlitePlace place;
  fs::create_directories(place.folder());
  ASSERT_EQ(mkfifo(place.database().c_str(), 0600), 0);

  EXPECT_ERROR(place.try_open(), Code::config_error, place.database(), "is not a regular file");
}

TEST(StoreFolder, ALinkInPlaceOfTheFileIsNotFollowed) {
  const SqlitePlace place;
  fs::create_directories(place.folder());
  const std::string mine = place.temp.path() + "/mine";
  std::ofstream(mine) << "";
  fs::create_symlink(mine, place.database());

  EXPECT_ERROR(place.try_open(), Code::config_error, place.database(), "is a symbolic link", "Move it away");
  EXPECT_EQ(bytes_of(mine), "");
}

TEST(StoreFolder, AFileInPlaceOfTheFolderIsLeftAlone) {
  const SqlitePlace place;
  std::ofstream(place.folder()) << "mine";

  EXPECT_ERROR(place.try_open(), Code::config_error, place.folder(), "is a file", "Move it away");
  EXPECT_EQ(bytes_of(place.folder()), "mine");
}

TEST(StoreFolder, AFileAboveTheFolderIsNamed) {
  const SqlitePlace place;
  std::ofstream(place.folder()) << "mine";
  SqliteOptions options = place.options();
  options.folder = place.folder() + "/store";

  EXPECT_ERROR(place.try_open(options), Code::unavailable, options.folder, "Not a directory");
}

TEST(StoreFolder, AGateThatLeadsElsewhereIsNotFollowed) {
  const SqlitePlace place;
  fs::create_directories(place.folder());
  const std::string elsewhere = place.temp.path() + "/elsewhere";
  fs::create_symlink(elsewhere, place.folder() + "/gate");

  EXPECT_ERROR(place.try_open(), Code::unavailable, place.folder() + "/gate", "symbolic links");
  EXPECT_FALSE(fs::exists(elsewhere));
}

TEST(StoreFolder, ANetworkFileSystemIsRefused) {
  const SqlitePlace place;
  SqliteOptions options = place.options();
  options.file_system_type = [](const std::string&) -> long { return NFS_SUPER_MAGIC; };

  EXPECT_ERROR(place.try_open(options), Code::config_error, place.folder(), "network file system",
               "lease serve", "LEASE_STORE");
  EXPECT_FALSE(fs::exists(place.database())) << "nothing is left behind on it";
}

TEST(StoreFolder, AFileThatIsNoDatabaseIsCorrupt) {
  const SqlitePlace place;
  fs::create_directories(place.folder());
  const std::string garbage(20'000, 'g');
  std::ofstream(place.database()) << garbage;

  EXPECT_ERROR(place.try_open(), Code::corrupt, place.database(), "not a database", "lease doctor");
  EXPECT_EQ(bytes_of(place.database()), garbage);
}

TEST(StoreFolder, ASpoiledHeaderIsCorrupt) {
  const SqlitePlace place;
  (void)place.open();
  run_sql(place.database(), "PRAGMA wal_checkpoint(TRUNCATE)");
  write_bytes(place.database(), 0, std::string(100, 'g'));

  EXPECT_ERROR(place.try_open(), Code::corrupt, place.database(), "lease doctor");
}

TEST(StoreFolder, SpoiledPagesAreCorruptToThoseWhoReadThem) {
  const SqlitePlace place;
  {
    const auto store = place.open();
    for (int i = 0; i < 200; ++i) {
      commit(*store, [&](Transaction& transaction) {
        const Lease lease = make_lease(i, fmt::format("/some/file/{}", i));
        transaction.put(lease);
        transaction.append(make_event(lease));
      });
    }
  }
  run_sql(place.database(), "PRAGMA wal_checkpoint(TRUNCATE)");
  const auto root = [&](const std::string& name) {
    return std::stol(
        run_sql(place.database(), "SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'"));
  };
  // The page that every lookup of a live lease starts from.
  write_bytes(place.database(), (root("idx_leases_file_status") - 1) * 4096, std::string(4096, 'g'));
  const auto store = place.open();
  ASSERT_TRUE(store);

  const auto read = store->view({.workspace = kWorkspace}, [](View& view) -> Result<void> {
    (void)view.leases_at({"/some/file/1", false});
    return {};
  });
  const auto written =
      try_commit(*store, [](Transaction& transaction) { transaction.put(make_lease(500, "/some/file/1")); });

  EXPECT_ERROR(read, Code::corrupt, place.database(), "lease doctor");
  EXPECT_ERROR(written, Code::corrupt, place.database(), "lease doctor");
}

TEST(StoreFolder, ARecordThatNobodyWroteIsCorrupt) {
  const SqlitePlace place;
  const auto store = place.open();
  commit(*store, [](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });
  ASSERT_EQ(run_sql(place.database(), "UPDATE leases SET mode = 'purple'"), "");

  const auto read = store->view({.workspace = kWorkspace}, [](View& view) -> Result<void> {
    (void)view.leases({});
    return {};
  });

  EXPECT_ERROR(read, Code::corrupt, "'purple'", "lease doctor");
}

TEST(StoreFolder, ADatabaseOfAnotherProgramIsLeftAsItIs) {
  const SqlitePlace place;
  fs::create_directories(place.folder());
  ASSERT_EQ(
      run_sql(place.database(), "CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x')"), "");
  const std::string before = bytes_of(place.database());

  EXPECT_ERROR(place.try_open(), Code::config_error, place.database(), "some other program",
               "Nothing was changed");
  EXPECT_EQ(bytes_of(place.database()), before);
  EXPECT_FALSE(fs::exists(place.database() + "-wal"));
}

TEST(StoreFolder, ADatabaseMarkedByAnotherProgramIsLeftAsItIs) {
  const SqlitePlace place;
  fs::create_directories(place.folder());
  run_sql(place.database(),
          "PRAGMA application_id = 1234; PRAGMA user_version = 2; CREATE TABLE leases (id)");
  const std::string before = bytes_of(place.database());

  EXPECT_ERROR(place.try_open(), Code::config_error, place.database(), "some other program");
  EXPECT_EQ(bytes_of(place.database()), before);
}

TEST(StoreFolder, AFileOfANewerVersionIsLeftAsItIs) {
  const SqlitePlace place;
  (void)place.open();
  run_sql(place.database(), "PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string before = bytes_of(place.database());

  EXPECT_ERROR(place.try_open(), Code::config_error, place.database(), "newer Leasehold", "99",
               "Update lease");
  EXPECT_EQ(bytes_of(place.database()), before);
}

TEST(StoreFolder, AFileOfAnotherMachineIsLeftAsItIs) {
  const SqlitePlace place;
  (void)place.open();
  run_sql(place.database(), "PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string before = bytes_of(place.database());
  SqliteOptions options = place.options();
  options.machine_id = "that machine";
  options.boot_id = "that boot";

  EXPECT_ERROR(place.try_open(options), Code::config_error, place.database(),
               "belongs to another machine (this machine)", "lease serve", "LEASE_STORE");
  EXPECT_EQ(bytes_of(place.database()), before);
}

TEST(StoreFolder, OneBootIsOneMachineWhateverItIsCalled) {
  const SqlitePlace place;
  (void)place.open();
  SqliteOptions container = place.options();
  container.machine_id = "a container on this kernel";

  EXPECT_TRUE(place.try_open(container));
}

}  // namespace
}  // namespace leasehold
