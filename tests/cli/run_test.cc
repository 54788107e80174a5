// lease run: a command under leases.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "scene.h"

namespace leasehold {
namespace {

using RunCommand = Scene;

constexpr int kLost = 79;

TEST_F(RunCommand, HandsOverTokensReturnsTheStatusAndReleases) {
  const Ran ran =
      as("ann", {"run", "src/b.ts", "docs/x.md", "--", "sh", "-c",
                 "echo \"$LEASE_AGENT $LEASE_SESSION\"; test \"$(echo \"$LEASE_TOKENS\" | grep -c =)\" = 2 "
                 "&& test -n \"$LEASE_IDS\" && " LEASE_BINARY
                 " check -q src/b.ts --token \"$LEASE_TOKEN\" && exit 7"});

  EXPECT_EQ(ran.exit, 7) << ran.err;
  EXPECT_EQ(ran.out, "ann s-ann\n");
  EXPECT_EQ(as("ann", {"ls"}).out, "");
}

TEST_F(RunCommand, KeepsWhatIsToBeKept) {
  EXPECT_EQ(as("ann", {"run", "--keep", "src/b.ts", "--", "true"}).exit, 0);

  EXPECT_EQ(as("ann", {"ls"}).out, "/src/b.ts\texclusive\tann\n");
}

TEST_F(RunCommand, LeavesWhatWasHeldBefore) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);

  EXPECT_EQ(as("ann", {"run", "src/b.ts", "docs/x.md", "--", "true"}).exit, 0);

  EXPECT_EQ(as("ann", {"ls"}).out, "/src/b.ts\texclusive\tann\n");
}

TEST_F(RunCommand, TheLastOfOneOwnersGivesBack) {
  const auto until = [](const std::string& name) {
    return std::vector<std::string>{
        "run", "src/b.ts", "--",
        "sh",  "-c",       "touch in-" + name + "; while ! test -e out-" + name + "; do sleep 0.01; done"};
  };
  const auto began = [&](const std::string& name) {
    return eventually([&] { return std::filesystem::exists(root() + "/in-" + name); });
  };
  for (const bool in_order : {true, false}) {
    const std::string older = in_order ? "a" : "c";
    const std::string younger = in_order ? "b" : "d";
    StartedLease one = started("ann", until(older));
    ASSERT_TRUE(began(older));
    StartedLease two = started("ann", until(younger));
    ASSERT_TRUE(began(younger));

    add("out-" + (in_order ? older : younger));
    EXPECT_EQ((in_order ? one : two).wait().exit, 0);
    EXPECT_EQ(as("bob", {"acquire", "src/b.ts"}).exit, 75) << "the other still runs";

    add("out-" + (in_order ? younger : older));
    EXPECT_EQ((in_order ? two : one).wait().exit, 0);
    EXPECT_EQ(as("ann", {"ls"}).out, "");
  }
}

TEST_F(RunCommand, OfOneOwnersAKilledOneTakesNothingFromTheOthers) {
  const std::vector<std::string> names = {"a", "b", "c"};
  for (std::size_t killed = 0; killed < names.size(); ++killed) {
    std::vector<std::unique_ptr<StartedLease>> runs;
    for (const std::string& name : names) {
      runs.emplace_back(new StartedLease(
          started("ann", {"run", "src/b.ts", "--", "sh", "-c",
                          "touch in-" + name + "; while ! test -e out-" + name + "; do sleep 0.01; done"})));
      ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/in-" + name); }));
    }

    runs[killed]->signal(SIGKILL);
    (void)runs[killed]->wait();
    EXPECT_EQ(as("bob", {"acquire", "src/b.ts"}).exit, 75) << "two still run";
    const std::size_t next = (killed + 1) % names.size();
    add("out-" + names[next]);
    EXPECT_EQ(runs[next]->wait().exit, 0);
    EXPECT_EQ(as("bob", {"acquire", "src/b.ts"}).exit, 75) << "one still runs";

    const std::size_t last = (killed + 2) % names.size();
    runs[last]->signal(SIGKILL);
    (void)runs[last]->wait();
    EXPECT_TRUE(eventually([&] { return as("bob", {"acquire", "-q", "src/b.ts"}).exit == 0; }));
    EXPECT_EQ(as("bob", {"release", "src/b.ts"}).exit, 0);
    for (const std::string& name : names) {
      std::filesystem::remove(root() + "/in-" + name);
      std::filesystem::remove(root() + "/out-" + name);
    }
  }
}

TEST_F(RunCommand, DoesNotRunWhatIsRefused) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);

  EXPECT_EQ(as("bob", {"run", "src/b.ts", "--", "touch", "ran"}).exit, 75);
  EXPECT_EQ(as("bob", {"run", "-E", "3", "src/b.ts", "--", "touch", "ran"}).exit, 3);

  EXPECT_FALSE(std::filesystem::exists(root() + "/ran"));
}

TEST_F(RunCommand, TwoShellsOfOneUserAreTwo) {
  const std::vector<std::string> nobody = {"HOME=" + root(), "USER=ann"};
  StartedLease first(
      {"run", "src/b.ts", "--", "sh", "-c", "touch in; while ! test -e out; do sleep 0.01; done"}, nobody,
      root());
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/in"); }));

  EXPECT_EQ(run_lease({"run", "src/b.ts", "--", "true"},
                      {.environment = nobody, .out = {}, .cwd = root(), .in = {}})
                .exit,
            75);

  add("out");
  EXPECT_EQ(first.wait().exit, 0);
}

TEST_F(RunCommand, PassesSignalsOnAndReleases) {
  for (const int signal : {SIGINT, SIGTERM}) {
    StartedLease run = started("ann", {"run", "src/b.ts", "--", "sh", "-c",
                                       "trap 'exit 42' INT TERM; touch ready; while :; do sleep 0.01; done"});
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/ready"); }));

    run.signal(signal);

    EXPECT_EQ(run.wait().exit, 42);
    EXPECT_EQ(as("ann", {"ls"}).out, "");
    std::filesystem::remove(root() + "/ready");
  }
}

TEST_F(RunCommand, KilledItLeavesNothingInTheWay) {
  StartedLease run =
      started("ann", {"run", "src/b.ts", "--", "sh", "-c", "echo $$ > new; mv new pid; exec sleep 600"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/pid"); }));

  run.signal(SIGKILL);
  (void)run.wait();

  // At once: its process is proven dead. The command was ended, too.
  EXPECT_EQ(as("bob", {"acquire", "src/b.ts"}).exit, 0);
  std::ifstream file(root() + "/pid");
  pid_t pid = 0;
  file >> pid;
  ASSERT_GT(pid, 1);
  EXPECT_TRUE(eventually([&] { return kill(pid, 0) != 0; }));
}

TEST_F(RunCommand, EndsTheCommandWhoseLeaseIsLost) {
  StartedLease run =
      started("ann", {"run", "--ttl", "1s", "src/b.ts", "--", "sh", "-c",
                      "trap 'echo ended; exit 5' TERM; touch ready; while :; do sleep 0.01; done"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/ready"); }));

  run.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return as("bob", {"acquire", "-q", "src/b.ts"}).exit == 0; }));
  run.signal(SIGCONT);

  const Ran ran = run.wait();
  EXPECT_EQ(ran.exit, kLost) << ran.err;
  EXPECT_EQ(ran.out, "ended\n");
  EXPECT_EQ(as("bob", {"ls"}).out, "/src/b.ts\texclusive\tbob\n");
}

TEST_F(RunCommand, DoesNotTakeAgainWhatItLost) {
  StartedLease run = started("ann", {"run", "--ttl", "300ms", "src/b.ts", "--", "sh", "-c",
                                     "touch ready; while :; do sleep 0.01; done"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/ready"); }));

  run.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return as("bob", {"ls"}).out.empty(); }));
  run.signal(SIGCONT);

  EXPECT_EQ(run.wait().exit, kLost);
  const std::string history = as("bob", {"history", "src/b.ts"}).out;
  EXPECT_EQ(history.find("acquired"), history.rfind("acquired")) << history;
}

TEST_F(RunCommand, LeavesItsOwnersOtherLeasesAlone) {
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);

  ASSERT_EQ(as("ann", {"run", "--ttl", "300ms", "src/b.ts", "--", "sleep", "1"}).exit, 0);

  EXPECT_EQ(as("bob", {"acquire", "docs/x.md"}).exit, 75);
}

TEST_F(RunCommand, GivesBackWhatItsCommandLeasedForNobodyElse) {
  const std::vector<std::string> nobody = {"HOME=" + root(), "USER=ann", "LEASE=" LEASE_BINARY};
  const Ran ran = run_lease({"run", "src/b.ts", "--", "sh", "-c", "$LEASE acquire docs/x.md"},
                            {.environment = nobody, .out = {}, .cwd = root(), .in = {}});

  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(as("ann", {"ls"}).out, "");
}

TEST_F(RunCommand, EndsTheCommandWhoseLeaseAnOperatorTook) {
  StartedLease run = started("ann", {"run", "src/b.ts", "--", "sh", "-c", "touch ready; exec sleep 600"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/ready"); }));

  ASSERT_EQ(as("boss", {"force-release", "src/b.ts", "--reason", "mine"}).exit, 0);

  const Ran ran = run.wait();
  EXPECT_EQ(ran.exit, kLost);
  EXPECT_TRUE(contains(ran.err, "The lease on /src/b.ts that the command runs under is lost.")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "/src/b.ts was taken from you by boss: \"mine\".")) << ran.err;
}

TEST_F(RunCommand, EndsTheCommandWhoseLeaseItsOwnerReleased) {
  StartedLease run =
      started("ann", {"run", "--ttl", "1h", "src/b.ts", "--", "sh", "-c", "touch ready; exec sleep 30"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/ready"); }));

  ASSERT_EQ(as("ann", {"release", "src/b.ts"}).exit, 0);

  const Ran ran = run.wait();
  EXPECT_EQ(ran.exit, kLost) << "long before it would be renewed";
  EXPECT_TRUE(contains(ran.err, "The lease on /src/b.ts that the command runs under is lost.")) << ran.err;
}

TEST_F(RunCommand, SaysInJsonWhatBecameOfIt) {
  const auto error = [](const std::string& text) {
    boost::system::error_code problem;
    const auto parsed = boost::json::parse(text, problem);
    EXPECT_FALSE(problem) << text;
    return problem ? boost::json::object() : parsed.at("error").as_object();
  };
  const Ran missing = as("ann", {"run", "--json", "src/b.ts", "--", "no-such-program"});
  EXPECT_EQ(missing.exit, 127);
  EXPECT_EQ(missing.err, "");
  EXPECT_EQ(error(missing.out).at("exit_code"), 127);

  StartedLease run =
      started("ann", {"run", "--json", "src/b.ts", "--", "sh", "-c", "touch ready; exec sleep 600"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/ready"); }));
  ASSERT_EQ(as("boss", {"force-release", "src/b.ts", "--reason", "mine"}).exit, 0);
  const Ran lost = run.wait();
  EXPECT_EQ(lost.exit, kLost);
  EXPECT_EQ(lost.out, "") << "it is the command's";
  EXPECT_EQ(error(lost.err).at("code"), "lost");
  EXPECT_TRUE(contains(lost.err, "/src/b.ts was taken from you by boss")) << lost.err;
}

TEST_F(RunCommand, SaysWhatCannotBeRun) {
  EXPECT_EQ(as("ann", {"run", "src/b.ts", "--", "no-such-program"}).exit, 127);
  EXPECT_EQ(as("ann", {"run", "src/b.ts"}).exit, 64);
  EXPECT_EQ(as("ann", {"ls"}).out, "");
}

}  // namespace
}  // namespace leasehold
