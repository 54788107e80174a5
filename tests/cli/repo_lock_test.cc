#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <filesystem>
#include <functional>
#include <regex>

#include "started_lease.h"

namespace leasehold {
namespace {

constexpr int kUsage = 64;
constexpr int kUnavailable = 69;
constexpr int kCannotWrite = 74;
constexpr int kLocked = 75;
constexpr int kConfig = 78;
constexpr int kLost = 79;

class RepoLockCommand : public testing::Test {
 protected:
  RepoLockCommand() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~RepoLockCommand() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string lock_path() const { return folder_ + "/repos/my.repo/.lock"; }
  bool has_lock() const { return std::filesystem::exists(lock_path()); }

  std::vector<std::string> arguments(std::vector<std::string> more) const {
    std::vector<std::string> all = {"repo-lock", "my.repo", "--data-dir", folder_};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Ran run(std::vector<std::string> more, How how = {}) const {
    return run_lease(arguments(std::move(more)), std::move(how));
  }

  static bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 10'000 && !condition(); ++i) usleep(1'000);
    return condition();
  }
  bool appears(const std::string& name) const {
    return eventually([&] { return std::filesystem::exists(file(name)); });
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }
  std::string text(const std::string& name) const {
    std::ifstream stream(file(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  // Holds the lock until told by a file to end.
  std::vector<std::string> hold() const {
    return {
        "--cmd",
        "a long push",
        "--",
        "sh",
        "-c",
        fmt::format("touch {}; until test -e {}; do sleep 0.01; done; exit 3", file("held"), file("end"))};
  }

 private:
  std::string folder_ = testing::TempDir() + "leasehold-repo-lock-XXXXXX";
};

TEST_F(RepoLockCommand, RunsACommandAndReturnsItsStatus) {
  EXPECT_EQ(run({"--", "true"}).exit, 0);
  EXPECT_EQ(run({"--", "sh", "-c", "exit 7"}).exit, 7);
  EXPECT_EQ(run({"--", "sh", "-c", "kill -9 $$"}).exit, 137);
  EXPECT_FALSE(has_lock());

  const Ran ran = run({"--", "echo", "--", "--help", "a b"});
  EXPECT_EQ(ran.out, "-- --help a b\n");
  EXPECT_EQ(ran.err, "");
}

TEST_F(RepoLockCommand, LocksWhileTheCommandRuns) {
  const Ran ran = run({"--", "sh", "-c", fmt::format("stat -c %a {0}; cat {0}", lock_path())});

  EXPECT_TRUE(
      std::regex_search(ran.out, std::regex("^600\n\\{\"pid\":[0-9]+,\"created_at\":\"20[0-9T:.-]+Z\","
                                            "\"cmd\":\"sh -c stat .*\",\"start_time\":[0-9]+,")))
      << ran.out;
  EXPECT_FALSE(has_lock());
}

TEST_F(RepoLockCommand, SaysThatACommandCannotBeRun) {
  const Ran missing = run({"--", "no-such-program"});
  EXPECT_EQ(missing.exit, 127);
  EXPECT_EQ(missing.err, "lease: Cannot run no-such-program: No such file or directory.\n");
  EXPECT_EQ(run({"--", "/"}).exit, 126);
  EXPECT_FALSE(has_lock());
}

TEST_F(RepoLockCommand, RefusesWhileAnotherHasIt) {
  StartedLease holder(arguments(hold()));
  ASSERT_TRUE(appears("held"));

  const Ran refused = run({"--", "touch", file("ran")});
  EXPECT_EQ(refused.exit, kLocked);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(std::regex_match(
      refused.err,
      std::regex(fmt::format(
          "lease: E_REPO_LOCKED: The repository my\\.repo is locked by pid {} for [0-9]+s, command "
          "\"a long push\" \\(alive: pid {} \\(lease\\) is running\\); its lock file is \\S+/\\.lock\\. "
          "To wait for it, add --wait 10m\\.\n",
          holder.pid(), holder.pid()))))
      << refused.err;
  EXPECT_FALSE(std::filesystem::exists(file("ran")));

  const Ran as_json = run({"--json", "--", "true"});
  EXPECT_EQ(as_json.exit, kLocked);
  EXPECT_EQ(as_json.err, "") << "what is said is in the document";
  const auto document = boost::json::parse(as_json.out).as_object();
  EXPECT_EQ(document.at("error").at("code"), "locked");
  EXPECT_EQ(document.at("error").at("exit_code"), kLocked);
  EXPECT_TRUE(document.at("error").at("message").as_string().starts_with("E_REPO_LOCKED: "));
  EXPECT_TRUE(document.at("created_at_ms").is_int64()) << as_json.out;

  write("end", "");
  EXPECT_EQ(holder.wait().exit, 3);
  EXPECT_EQ(run({"--", "true"}).exit, 0);
}

TEST_F(RepoLockCommand, WaitsAsLongAsItIsTold) {
  StartedLease holder(arguments(hold()));
  ASSERT_TRUE(appears("held"));

  const Ran refused = run({"--wait", "120ms", "--", "true"});
  EXPECT_EQ(refused.exit, kLocked);
  EXPECT_NE(refused.err.find("Waited 120ms. To wait longer,"), std::string::npos) << refused.err;

  StartedLease waiter(arguments({"--wait", "1h", "--", "sh", "-c", "exit 5"}));
  write("end", "");
  EXPECT_EQ(holder.wait().exit, 3);
  EXPECT_EQ(waiter.wait().exit, 5);
}

TEST_F(RepoLockCommand, TakesOverFromAKilledOne) {
  StartedLease holder(arguments({"--", "sleep", "1000"}));
  ASSERT_TRUE(eventually([&] { return has_lock(); }));
  holder.signal(SIGKILL);
  (void)holder.wait();
  ASSERT_TRUE(has_lock());

  EXPECT_EQ(run({"--", "true"}).exit, 0);
}

TEST_F(RepoLockCommand, PassesSignalsOnAndUnlocks) {
  StartedLease holder(
      arguments({"--", "sh", "-c",
                 fmt::format("trap 'exit 42' TERM; touch {}; while :; do sleep 0.01; done", file("held"))}));
  ASSERT_TRUE(appears("held"));

  holder.signal(SIGTERM);

  EXPECT_EQ(holder.wait().exit, 42);
  EXPECT_FALSE(has_lock());
}

TEST_F(RepoLockCommand, EndsACommandThatWasStolenFrom) {
  StartedLease slow(
      arguments({"--", "sh", "-c",
                 fmt::format("trap 'echo told > {}; exit 9' TERM; touch {}; while :; do sleep 0.01; done",
                             file("told"), file("held"))}));
  ASSERT_TRUE(appears("held"));

  const Ran thief = run({"--stale-after", "1ms", "--", "sh", "-c",
                         fmt::format("until test -s {}; do sleep 0.01; done", file("told"))});

  EXPECT_EQ(thief.exit, 0) << thief.err;
  const Ran ended = slow.wait();
  EXPECT_EQ(ended.exit, kLost);
  EXPECT_NE(ended.err.find("is no longer ours: somebody took it over."), std::string::npos) << ended.err;
  EXPECT_EQ(text("told"), "told\n");
}

TEST_F(RepoLockCommand, TellsACommandThatEndedThatItWasStolenFrom) {
  // In one step: whoever looks in between would find the lock gone, and end the command there.
  StartedLease slow(
      arguments({"--", "sh", "-c", fmt::format("echo '{{}}' > {0}.other; mv {0}.other {0}", lock_path())}));

  const Ran ended = slow.wait();
  EXPECT_EQ(ended.exit, kLost);
  EXPECT_TRUE(has_lock()) << "the successor's file stays";
}

TEST_F(RepoLockCommand, StatusSaysWhoHasIt) {
  EXPECT_EQ(run({"--status"}).out, "The repository my.repo is not locked.\n");
  EXPECT_EQ(run({"--status", "--json"}).out, "{\"repo_id\":\"my.repo\",\"state\":\"free\"}\n");
  EXPECT_FALSE(std::filesystem::exists(file("repos"))) << "looking makes nothing";

  StartedLease holder(arguments(hold()));
  ASSERT_TRUE(appears("held"));
  const Ran held = run({"--status"});
  EXPECT_EQ(held.exit, 0);
  EXPECT_NE(held.out.find(fmt::format("locked by pid {} for ", holder.pid())), std::string::npos) << held.out;
  EXPECT_NE(held.out.find("(alive: "), std::string::npos) << held.out;
  EXPECT_NE(run({"--status", "--json"}).out.find("\"state\":\"held\""), std::string::npos);
  EXPECT_EQ(run({"--status", "-q"}).out, "");
  EXPECT_EQ(run({"--status", "-q"}).exit, kLocked);

  holder.signal(SIGKILL);
  (void)holder.wait();
  const Ran stale = run({"--status"});
  EXPECT_NE(stale.out.find("(dead: "), std::string::npos) << stale.out;
  EXPECT_NE(stale.out.find("It is stale"), std::string::npos) << stale.out;
  EXPECT_EQ(run({"--status", "-q"}).exit, 0);
  EXPECT_NE(run({"--status", "--json"}).out.find("\"state\":\"stale\""), std::string::npos);
}

TEST_F(RepoLockCommand, FindsItsFolderInTheEnvironment) {
  const auto place = [&](std::vector<std::string> environment) {
    return run_lease(
               {"repo-lock", "r", "--", "sh", "-c", fmt::format("cd {}; find . -name .lock", file("."))},
               {.environment = std::move(environment)})
        .out;
  };
  EXPECT_EQ(place({"HOME=" + file("home")}), "./home/.local/state/leasehold/repos/r/.lock\n");
  EXPECT_EQ(place({"HOME=" + file("home"), "XDG_STATE_HOME=" + file("state")}),
            "./state/leasehold/repos/r/.lock\n");
  EXPECT_EQ(
      place({"HOME=" + file("home"), "XDG_STATE_HOME=" + file("state"), "AGENCY_DATA_DIR=" + file("agency")}),
      "./agency/repos/r/.lock\n");

  const Ran nowhere =
      run_lease({"repo-lock", "r", "--", "true"}, {.environment = {"XDG_STATE_HOME=relative"}});
  EXPECT_EQ(nowhere.exit, kConfig);
  EXPECT_NE(nowhere.err.find("--data-dir"), std::string::npos);
}

TEST_F(RepoLockCommand, RefusesWhatMeansNothing) {
  for (const std::vector<std::string>& odd :
       std::vector<std::vector<std::string>>{{},
                                             {"r"},
                                             {"r", "--"},
                                             {"--", "true"},
                                             {"r", "s", "--", "true"},
                                             {"r", "--wat", "--", "true"},
                                             {"r", "--wait", "soon", "--", "true"},
                                             {"r", "--wait", "-1s", "--", "true"},
                                             {"r", "--stale-after", "0s", "--", "true"},
                                             {"r", "--status", "--", "true"},
                                             {"../r", "--", "true"},
                                             {"", "--", "true"},
                                             {".", "--", "true"},
                                             {"\x1b[2J", "--", "true"},
                                             {"r", "\x1b[2J", "--", "true"}}) {
    std::vector<std::string> arguments = {"repo-lock"};
    arguments.insert(arguments.end(), odd.begin(), odd.end());

    const Ran ran = run_lease(arguments, {.environment = {"AGENCY_DATA_DIR=" + file(".")}});

    EXPECT_EQ(ran.exit, kUsage) << fmt::format("{}", fmt::join(odd, " "));
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err, "");
    EXPECT_FALSE(ran.err.contains('\x1b')) << ran.err;
  }
}

TEST_F(RepoLockCommand, ExplainsItself) {
  const Ran ran = run_lease({"repo-lock", "--help"});

  EXPECT_EQ(ran.exit, 0);
  for (const char* part : {"usage: lease repo-lock REPO_ID", "--data-dir", "--stale-after", "--status"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << ran.out;
  }
}

TEST_F(RepoLockCommand, SaysWhatIsInTheWay) {
  write("file", "");
  EXPECT_EQ(run_lease({"repo-lock", "r", "--data-dir", file("file"), "--", "true"}).exit, kConfig);
  const Ran ran = run_lease({"repo-lock", "r", "--data-dir", "/proc/nowhere", "--", "true"});
  EXPECT_EQ(ran.exit, kUnavailable);
  EXPECT_NE(ran.err.find("/proc/nowhere"), std::string::npos) << ran.err;
}

TEST_F(RepoLockCommand, DoesNotTakeAnObstacleForAHolder) {
  std::filesystem::create_directories(lock_path() + ".new");

  const Ran ran = run({"--wait", "1s", "--", "true"});

  EXPECT_EQ(ran.exit, kConfig);
  EXPECT_NE(ran.err.find(".lock.new is no file"), std::string::npos) << ran.err;
}

TEST_F(RepoLockCommand, SaysWhenNobodyCanReadItsAnswer) {
  EXPECT_EQ(run({"--status"}, {.out = "/dev/full"}).exit, kCannotWrite);
  EXPECT_EQ(run({"--", "true"}, {.out = "/dev/full"}).exit, 0);
}

// Else the lock file would be opened as standard error, and the message written into it.
TEST_F(RepoLockCommand, WritesNoMessageIntoItsOwnFiles) {
  const std::string script =
      fmt::format("exec {} repo-lock my.repo --data-dir {} -- sh -c 'rm {}; sleep 1000' <&- >&- 2>&-",
                  LEASE_BINARY, file("."), lock_path());
  StartedLease shell({"repo-lock", "outer", "--data-dir", file("outer"), "--", "sh", "-c", script});

  EXPECT_EQ(shell.wait().exit, kLost);
}

}  // namespace
}  // namespace leasehold
