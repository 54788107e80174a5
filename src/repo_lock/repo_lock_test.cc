#include "leasehold/repo_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <boost/json.hpp>
#include <future>
#include <thread>

#include "env/child.h"
#include "env/machine.h"
#include "env/processes.h"
#include "repo_lock/lock_place.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(RepoLock, WritesALockFile) {
  const LockPlace place;

  const auto answer = place.lock().lock(kRepo, "push");

  ASSERT_TRUE(is_granted(answer)) << outcome(answer);
  const auto value = boost::json::parse(place.text());
  EXPECT_EQ(value.at("pid").as_int64(), getpid());
  EXPECT_EQ(parse_rfc3339(value.at("created_at").as_string().c_str()), place.now);
  EXPECT_EQ(value.at("cmd").as_string(), "push");
  const auto self = process_with_pid(read_machine(), getpid());
  if (!self) GTEST_SKIP() << "this process has no identity here";
  EXPECT_EQ(value.at("start_time").to_number<std::uint64_t>(), self->start_time);
}

TEST(RepoLock, LeavesAnEmptyCommandOut) {
  const LockPlace place;

  const auto answer = place.lock().lock(kRepo);

  EXPECT_FALSE(boost::json::parse(place.text()).as_object().contains("cmd"));
}

TEST(RepoLock, MakesItsFoldersAndLetsNobodyElseIn) {
  const LockPlace place;
  const mode_t umask_before = umask(0);

  RepoLock lock = place.lock();
  lock.data_dir += "/not/there";
  const auto answer = lock.lock(kRepo);
  umask(umask_before);

  ASSERT_TRUE(is_granted(answer)) << outcome(answer);
  const std::string folder = lock.data_dir + "/repos/" + kRepo;
  for (const std::string& made :
       {place.data_dir() + "/not", lock.data_dir, lock.data_dir + "/repos", folder}) {
    EXPECT_EQ(mode_of(made), 0700U) << made;
  }
  EXPECT_EQ(mode_of(folder + "/.lock"), 0600U);
  EXPECT_EQ(mode_of(folder + "/.lock.guard"), 0600U);
}

TEST(RepoLock, HasItsModeWhateverTheUmask) {
  const LockPlace place;
  const auto first = place.lock().lock("another");  // The folders are there.
  std::filesystem::create_directories(place.folder());
  const mode_t umask_before = umask(0377);

  const auto answer = place.lock().lock(kRepo);
  umask(umask_before);

  ASSERT_TRUE(is_granted(answer)) << outcome(answer);
  EXPECT_EQ(mode_of(place.path()), 0600U);
}

TEST(RepoLock, RefusesWhileItIsHeld) {
  const LockPlace place;
  const auto held = place.lock().lock(kRepo, "push");
  const std::string before = place.text();

  const auto answer = place.lock().lock(kRepo, "pull");

  ASSERT_TRUE(is_refused(answer)) << outcome(answer);
  const auto& locked = std::get<Locked>(*answer);
  EXPECT_EQ(locked.repo_id, kRepo);
  EXPECT_EQ(locked.path, place.path());
  ASSERT_TRUE(locked.info);
  EXPECT_EQ(locked.info->pid, getpid());
  EXPECT_EQ(locked.info->cmd, "push");
  EXPECT_EQ(locked.info->created_at, place.now);
  EXPECT_EQ(place.text(), before);
}

TEST(RepoLock, RefusesASecondThreadAtOnce) {
  const LockPlace place;
  const auto held = place.lock().lock(kRepo);

  auto answer = std::async(std::launch::async, [&] { return outcome(place.lock().lock(kRepo)); });

  ASSERT_EQ(answer.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(answer.get(), "locked");
}

TEST(RepoLock, IsOnePerRepository) {
  const LockPlace place;

  const auto one = place.lock().lock("one");
  const auto two = place.lock().lock("two");

  EXPECT_TRUE(is_granted(one));
  EXPECT_TRUE(is_granted(two));
}

TEST(RepoLock, TakesOverFromADeadProcess) {
  const LockPlace place;
  place.write(999'999, place.now - 1s);

  const auto answer = place.lock(Liveness::dead).lock(kRepo);

  ASSERT_TRUE(is_granted(answer)) << outcome(answer);
  EXPECT_EQ(boost::json::parse(place.text()).at("pid").as_int64(), getpid());
}

TEST(RepoLock, DoesNotTakeOverOnUncertainty) {
  const LockPlace place;
  place.write(999'999, place.now - 1h);

  EXPECT_EQ(outcome(place.lock(Liveness::unknown).lock(kRepo)), "locked");
}

TEST(RepoLock, TakesOverWhatIsOlderThanStaleAfter) {
  const LockPlace place;
  place.write(getpid(), place.now - 2h);
  EXPECT_EQ(outcome(place.lock().lock(kRepo)), "locked");
  place.write(getpid(), place.now - 2h - 1us);
  EXPECT_EQ(outcome(place.lock().lock(kRepo)), "granted");

  place.write(getpid(), place.now - 31s);
  RepoLock impatient = place.lock();
  impatient.stale_after = 30s;
  EXPECT_EQ(outcome(impatient.lock(kRepo)), "granted");
}

TEST(RepoLock, JudgesAnUnreadableFileByItsAge) {
  const LockPlace place;
  for (const std::string& text : {std::string(), std::string("{\"pid\":"), std::string("\0\xff", 2),
                                  std::string(1'000'000, ' '), std::string("[]")}) {
    place.write(text);
    place.set_changed_at(place.now - 2h);
    // Whoever made it may be writing it at this moment: dead or not, nobody knows who it is.
    const auto refused = place.lock(Liveness::dead).lock(kRepo);
    ASSERT_TRUE(is_refused(refused)) << outcome(refused);
    EXPECT_EQ(std::get<Locked>(*refused).info, std::nullopt);
    EXPECT_EQ(std::get<Locked>(*refused).age, 2h);

    place.set_changed_at(place.now - 2h - 1s);
    EXPECT_EQ(outcome(place.lock().lock(kRepo)), "granted");
  }
}

TEST(RepoLock, JudgesAFileWithoutAMomentByItsAge) {
  const LockPlace place;
  for (const char* text : {R"({"pid":1})", R"({"pid":1,"created_at":"long ago"})",
                           R"({"pid":1,"created_at":"9999-01-01T00:00:00Z"})"}) {
    place.write(text);
    EXPECT_EQ(outcome(place.lock().lock(kRepo)), "locked") << text;
    EXPECT_EQ(outcome(place.lock(Liveness::dead).lock(kRepo)), "granted") << text;

    place.write(text);
    place.set_changed_at(place.now - 2h - 1s);
    EXPECT_EQ(outcome(place.lock().lock(kRepo)), "granted") << text;
  }
}

// Its moment counts, whatever the file's, and of its process nothing is known.
TEST(RepoLock, JudgesAFileWithoutAPidByItsMoment) {
  const LockPlace place;
  place.write(R"({"created_at":")" + to_rfc3339(place.now - 1h) + "\"}");
  place.set_changed_at(place.now - 3h);
  const auto fresh = place.lock(Liveness::dead).lock(kRepo);
  ASSERT_TRUE(is_refused(fresh)) << outcome(fresh);
  EXPECT_EQ(std::get<Locked>(*fresh).age, 1h);
  EXPECT_EQ(describe(std::get<Locked>(*fresh)),
            "The repository my.repo is locked by somebody for 1h (unknown: its file names no pid); its lock "
            "file is " +
                place.path() + ".");

  place.write(R"({"created_at":"2020-01-01T00:00:00Z","pid":"none"})");
  EXPECT_EQ(outcome(place.lock().lock(kRepo)), "granted");
}

TEST(RepoLock, KnowsRealProcesses) {
  const LockPlace place;
  RepoLock lock = place.lock();
  lock.is_pid_alive = nullptr;
  Child child(Child::rest);
  const auto process = process_with_pid(read_machine(), child.pid());
  if (!process) GTEST_SKIP() << "processes cannot be told apart here";
  const auto text_with = [&](std::uint64_t start_time) {
    return R"({"pid":)" + std::to_string(child.pid()) + R"(,"created_at":")" + to_rfc3339(place.now) +
           R"(","start_time":)" + std::to_string(start_time) + "}";
  };

  place.write(child.pid(), place.now);
  EXPECT_EQ(outcome(lock.lock(kRepo)), "locked");
  place.write(text_with(process->start_time));
  EXPECT_EQ(outcome(lock.lock(kRepo)), "locked");
  // The pid was given to another process since.
  place.write(text_with(process->start_time + 1));
  EXPECT_EQ(outcome(lock.lock(kRepo)), "granted");

  place.write(child.pid(), place.now);
  child.kill();
  child.wait();
  EXPECT_EQ(outcome(lock.lock(kRepo)), "granted") << "a zombie is dead";
  place.write(child.pid(), place.now);
  child.reap();
  EXPECT_EQ(outcome(lock.lock(kRepo)), "granted");

  for (const std::int64_t pid : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    place.write(pid, place.now);
    EXPECT_EQ(outcome(lock.lock(kRepo)), "locked") << pid;
  }
}

TEST(RepoLock, UnlockRemovesTheFileOnce) {
  const LockPlace place;
  auto answer = place.lock().lock(kRepo);
  auto& guard = std::get<RepoLockGuard>(*answer);

  EXPECT_EQ(outcome(guard.unlock()), "done");
  EXPECT_FALSE(place.has_lock());
  EXPECT_EQ(outcome(guard.check()), "lost");

  const auto next = place.lock().lock(kRepo);
  EXPECT_EQ(outcome(guard.unlock()), "done") << "a second time";
  EXPECT_TRUE(place.has_lock());
  EXPECT_TRUE(is_granted(next));
}

TEST(RepoLock, UnlocksOnDestructionAndAssignment) {
  const LockPlace place;
  {
    auto answer = place.lock().lock(kRepo);
    const RepoLockGuard moved = std::get<RepoLockGuard>(std::move(*answer));
    EXPECT_EQ(outcome(place.lock().lock(kRepo)), "locked");
  }
  EXPECT_FALSE(place.has_lock());

  auto one = place.lock().lock("one");
  auto other = place.lock().lock("other");
  std::get<RepoLockGuard>(*one) = std::get<RepoLockGuard>(std::move(*other));
  EXPECT_EQ(outcome(place.lock().lock("one")), "granted");
  EXPECT_EQ(outcome(place.lock().lock("other")), "locked");
}

TEST(RepoLock, UnlockDoesNotMindAFileRemovedByHand) {
  const LockPlace place;
  auto answer = place.lock().lock(kRepo);
  auto& guard = std::get<RepoLockGuard>(*answer);
  EXPECT_EQ(outcome(guard.check()), "done");
  std::filesystem::remove(place.path());

  EXPECT_EQ(outcome(guard.check()), "lost");
  EXPECT_EQ(outcome(guard.unlock()), "done");

  auto again = place.lock().lock(kRepo);
  std::filesystem::remove_all(place.data_dir() + "/repos");
  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*again).check()), "lost");
  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*again).unlock()), "done");
}

TEST(RepoLock, WhoeverIsStolenFromFindsOutAndRemovesNothing) {
  LockPlace place;
  auto slow = place.lock().lock(kRepo, "slow");
  place.now += 2h + 1s;
  auto thief = place.lock().lock(kRepo, "thief");
  ASSERT_TRUE(is_granted(thief)) << outcome(thief);
  const std::string before = place.text();

  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*slow).check()), "lost");
  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*slow).unlock()), "lost");
  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*slow).unlock()), "done") << "it was told once";

  EXPECT_EQ(place.text(), before);
  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*thief).unlock()), "done");
}

// The thief's file is gone by then, and the next one's may even have the number that ours had.
TEST(RepoLock, WhoeverIsStolenFromFindsOutWhenTheThiefIsDone) {
  LockPlace place;
  auto slow = place.lock().lock(kRepo, "slow");
  place.now += 2h + 1s;
  ASSERT_EQ(outcome(place.lock().lock(kRepo, "thief")), "granted");
  ASSERT_FALSE(place.has_lock());

  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*slow).unlock()), "lost");
}

TEST(RepoLock, TakesNoNameThatLeadsElsewhere) {
  const LockPlace place;
  for (const std::string& id :
       {std::string(), std::string("."), std::string(".."), std::string(".hidden"), std::string("a/b"),
        std::string("/etc"), std::string("../x"), std::string("a\\b"), std::string("a\0b", 3),
        std::string("a\nb"), std::string("\xff"), std::string(256, 'x')}) {
    EXPECT_EQ(outcome(place.lock().lock(id)), "invalid_argument") << id;
    EXPECT_EQ(outcome(place.lock().status(id)), "invalid_argument") << id;
  }
  EXPECT_FALSE(std::filesystem::exists(place.data_dir() + "/repos"));

  for (const std::string& id : {std::string("my.repo"), std::string("a b"), std::string("-x"),
                                std::string("a..b"), std::string("\u00e4"), std::string(255, 'x')}) {
    EXPECT_EQ(outcome(place.lock().lock(id)), "granted") << id;
  }
}

TEST(RepoLock, TakesNoSettingsThatMeanNothing) {
  const LockPlace place;
  RepoLock lock = place.lock();
  lock.stale_after = 0ms;
  EXPECT_EQ(outcome(lock.lock(kRepo)), "invalid_argument");
  lock = place.lock();
  lock.data_dir = "";
  EXPECT_EQ(outcome(lock.lock(kRepo)), "invalid_argument");
}

TEST(RepoLock, StaysHeldWhenTheProcessChangesFolders) {
  const LockPlace place;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(place.data_dir());
  RepoLock lock = place.lock();
  lock.data_dir = "data";

  auto answer = lock.lock(kRepo);
  std::filesystem::current_path(before);

  ASSERT_TRUE(is_granted(answer)) << outcome(answer);
  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*answer).check()), "done");
  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*answer).unlock()), "done");
  EXPECT_FALSE(std::filesystem::exists(place.data_dir() + "/data/repos/my.repo/.lock"));
}

TEST(RepoLock, DoesNotFollowALinkOrTakeAFolder) {
  const LockPlace place;
  const std::string elsewhere = place.data_dir() + "/elsewhere";
  std::filesystem::create_directories(place.folder());

  std::ofstream(elsewhere) << R"({"pid":1,"created_at":"2000-01-01T00:00:00Z"})";
  std::filesystem::create_symlink(elsewhere, place.path());
  EXPECT_EQ(outcome(place.lock(Liveness::dead).lock(kRepo)), "config_error");
  EXPECT_EQ(outcome(place.lock().status(kRepo)), "config_error");
  std::filesystem::remove(elsewhere);
  EXPECT_EQ(outcome(place.lock(Liveness::dead).lock(kRepo)), "config_error");
  EXPECT_TRUE(std::filesystem::is_symlink(place.path()));
  EXPECT_FALSE(std::filesystem::exists(elsewhere));
  std::filesystem::remove(place.path());

  std::filesystem::create_directory(place.path());
  place.set_changed_at(place.now - 3h);
  const auto answer = place.lock(Liveness::dead).lock(kRepo);
  ASSERT_EQ(outcome(answer), "config_error");
  EXPECT_EQ(answer.error().message,
            place.path() + " is no file, and the repository lock needs one of that name. Move it away.");
  EXPECT_TRUE(std::filesystem::is_directory(place.path()));
  std::filesystem::remove(place.path());

  ASSERT_EQ(mkfifo(place.path().c_str(), 0600), 0);
  EXPECT_EQ(outcome(place.lock(Liveness::dead).lock(kRepo)), "config_error");
}

TEST(RepoLock, DoesNotFollowLinksToItsFolderOrGuard) {
  const LockPlace place;
  const std::string elsewhere = place.data_dir() + "/elsewhere";
  std::filesystem::create_directories(elsewhere);
  std::filesystem::create_directories(place.data_dir() + "/repos");

  std::filesystem::create_directory_symlink(elsewhere, place.folder());
  EXPECT_EQ(outcome(place.lock().lock(kRepo)), "config_error");
  std::filesystem::remove(place.folder());
  std::ofstream(place.folder()) << "a file";
  EXPECT_EQ(outcome(place.lock().lock(kRepo)), "config_error");
  std::filesystem::remove(place.folder());

  std::filesystem::create_directory(place.folder());
  std::filesystem::create_symlink(elsewhere + "/x", place.folder() + "/.lock.guard");
  EXPECT_EQ(outcome(place.lock().lock(kRepo)), "config_error");
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere));
  std::filesystem::remove(place.folder() + "/.lock.guard");
  std::filesystem::create_directory(place.folder() + "/.lock.guard");
  EXPECT_EQ(outcome(place.lock().lock(kRepo)), "config_error");
}

// As a stopped process would leave it.
TEST(RepoLock, DoesNotWaitForWhoeverIsInsideTheGuard) {
  const LockPlace place;
  auto held = place.lock().lock(kRepo);
  const int guard = open((place.folder() + "/.lock.guard").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(guard, LOCK_EX), 0);

  EXPECT_EQ(outcome(place.lock().lock(kRepo)), "locked");
  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*held).check()), "done");
  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*held).unlock()), "unavailable");
  EXPECT_TRUE(place.has_lock());
  const auto refused = place.lock(Liveness::dead).lock(kRepo);
  ASSERT_TRUE(is_refused(refused)) << outcome(refused);
  EXPECT_EQ(std::get<Locked>(*refused).verdict.evidence, "another process is deciding about it");

  close(guard);
  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*held).unlock()), "done");
  EXPECT_FALSE(place.has_lock());
}

TEST(RepoLock, LooksForAGuardThatWasRemoved) {
  const LockPlace place;
  auto held = place.lock().lock(kRepo);
  std::filesystem::remove(place.folder() + "/.lock.guard");

  EXPECT_EQ(outcome(std::get<RepoLockGuard>(*held).unlock()), "done");
  EXPECT_EQ(outcome(place.lock().lock(kRepo)), "granted");
}

TEST(RepoLock, RemovesTheDraftOfAKilledProcess) {
  const LockPlace place;
  std::filesystem::create_directories(place.folder());
  std::ofstream(place.folder() + "/.lock.new") << "half a lo";

  const auto answer = place.lock().lock(kRepo);

  EXPECT_TRUE(is_granted(answer)) << outcome(answer);
  EXPECT_FALSE(std::filesystem::exists(place.folder() + "/.lock.new"));
}

// Nothing is lost to whatever stands in the draft's place: neither it nor the stale lock.
TEST(RepoLock, LeavesAloneWhatIsInThePlaceOfItsDraft) {
  const LockPlace place;
  const std::string draft = place.folder() + "/.lock.new";
  place.write(42, place.now - 1h);
  const std::function<void()> obstacles[] = {
      [&] { std::filesystem::create_directory(draft); },
      [&] { std::filesystem::create_symlink("/nowhere", draft); },
      [&] { ASSERT_EQ(mkfifo(draft.c_str(), 0600), 0); },
  };
  for (const auto& put_obstacle : obstacles) {
    put_obstacle();

    const auto answer = place.lock(Liveness::dead).lock(kRepo);

    ASSERT_EQ(outcome(answer), "config_error");
    EXPECT_EQ(answer.error().message,
              draft + " is no file, and the repository lock needs one of that name. Move it away.");
    EXPECT_TRUE(place.has_lock());
    EXPECT_TRUE(std::filesystem::remove(draft));
  }
  EXPECT_EQ(outcome(place.lock(Liveness::dead).lock(kRepo)), "granted");
}

TEST(RepoLock, APipeIsNoGuard) {
  const LockPlace place;
  std::filesystem::create_directories(place.folder());
  ASSERT_EQ(mkfifo((place.folder() + "/.lock.guard").c_str(), 0600), 0);

  EXPECT_EQ(outcome(place.lock().lock(kRepo)), "config_error");
}

// A guard that was waited for in vain is not waited for again by the destructor: it would find it open here.
TEST(RepoLock, WaitsOnceForAGuardThatDoesNotOpen) {
  const LockPlace place;
  auto held = place.lock().lock(kRepo);
  const int inside = open((place.folder() + "/.lock.guard").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(inside, LOCK_EX | LOCK_NB), 0);
  ASSERT_EQ(outcome(std::get<RepoLockGuard>(*held).unlock()), "unavailable");

  std::promise<void> destroyed;
  std::thread opener([&] {
    destroyed.get_future().wait_for(1s);
    close(inside);
  });
  held = fail(Code::unavailable, "");
  destroyed.set_value();
  opener.join();

  EXPECT_TRUE(place.has_lock());
}

TEST(RepoLock, StatusSaysWhoHasIt) {
  const LockPlace place;
  auto free = place.lock().status(kRepo);
  ASSERT_TRUE(free);
  EXPECT_FALSE(*free);
  EXPECT_FALSE(std::filesystem::exists(place.data_dir() + "/repos")) << "looking makes nothing";

  place.write(42, place.now - 90s);
  auto held = place.lock().status(kRepo);
  ASSERT_TRUE(held && *held);
  EXPECT_EQ((*held)->lock.info->pid, 42);
  EXPECT_EQ((*held)->lock.age, 90s);
  EXPECT_FALSE((*held)->is_stale);
  EXPECT_TRUE((*place.lock(Liveness::dead).status(kRepo))->is_stale);
  EXPECT_FALSE(std::filesystem::exists(place.folder() + "/.lock.guard"));
}

TEST(RepoLock, RefusalReadsWell) {
  EXPECT_EQ(
      describe(Locked{.repo_id = "my repo",
                      .info = RepoLockInfo{.pid = 42, .cmd = "git push\x1b"},
                      .path = "/d/repos/my repo/.lock",
                      .age = 65'123ms,
                      .verdict = {Liveness::alive, "pid 42 (git) is running"}}),
      "The repository \"my repo\" is locked by pid 42 for 1m5s, command \"git push\\x1b\" (alive: pid 42 "
      "(git) is running); its lock file is \"/d/repos/my repo/.lock\".");
  EXPECT_EQ(describe(Locked{.repo_id = "r", .path = "/l", .verdict = {Liveness::unknown, "no idea"}}),
            "The repository r is locked by somebody for 0s (unknown: no idea); its lock file is /l.");
}

}  // namespace
}  // namespace leasehold
