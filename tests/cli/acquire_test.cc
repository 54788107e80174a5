#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scene.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

constexpr int kBusy = 75;
constexpr int kTimeout = 124;
constexpr int kUsage = 64;
constexpr int kCannotWrite = 74;

using Acquire = Scene;

TEST_F(Acquire, GrantsFilesWithTheirTests) {
  const Ran ran = as("ann", {"acquire", "src/a.ts", "--reason", "greet"});

  EXPECT_EQ(ran.exit, 0) << ran.err;
  // By the time it is told, some of it may be over.
  const std::string line = "  exclusive  token [0-9]+  ends in (5m|4m[0-9]+s)";
  EXPECT_TRUE(
      std::regex_match(ran.out, std::regex("/src/a.ts" + line + "\n/tests/a.test.ts" + line +
                                           "  \\(paired with /src/a.ts, rule javascript-tests-folder\\)\n")))
      << ran.out;
  EXPECT_EQ(ran.err, "");
}

TEST_F(Acquire, RefusesWhatSomebodyElseHasAndTheCommandItNamesWorks) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts", "--reason", "greet"}).exit, 0);

  const Ran refused = as("bob", {"acquire", "src/a.ts"});

  EXPECT_EQ(refused.exit, kBusy);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(contains(refused.err, "/src/a.ts is held by ann (session s-ann")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "reason: \"greet\"")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "To wait for it: lease acquire --wait 5m src/a.ts\n")) << refused.err;

  ASSERT_EQ(as("ann", {"release", "src/a.ts"}).exit, 0);
  EXPECT_EQ(as("bob", {"acquire", "--wait", "5m", "src/a.ts"}).exit, 0);
}

TEST_F(Acquire, NamesTheVeryCommandThatWouldWait) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);

  const Ran run = as("bob", {"run", "src/a.ts", "--reason", "two words", "--", "echo", "$x"});
  EXPECT_TRUE(contains(run.err, "lease run --wait 5m src/a.ts --reason 'two words' -- echo '$x'\n"))
      << run.err;
  const Ran waited = as("bob", {"acquire", "--agent", "cyd", "src/a.ts", "--wait", "10ms"});
  EXPECT_TRUE(contains(waited.err, "To wait for it: lease acquire --agent cyd src/a.ts --wait 10ms\n"))
      << waited.err;
  const Ran at_once = as("bob", {"acquire", "src/a.ts", "--wait", "0s", "--no-pairs"});
  EXPECT_TRUE(contains(at_once.err, "lease acquire --wait 5m src/a.ts --no-pairs\n")) << at_once.err;
  const Ran run_at_once = as("bob", {"run", "--wait=0s", "src/a.ts", "--", "x", "--wait", "0s"});
  EXPECT_TRUE(contains(run_at_once.err, "lease run --wait 5m src/a.ts -- x --wait 0s\n")) << run_at_once.err;
  EXPECT_EQ(json("bob", {"acquire", "src/a.ts"}).at("next_command"),
            "lease acquire --wait 5m --json src/a.ts");
}

TEST_F(Acquire, DoesNotRepeatAPasswordNorAWaitThatTheProfileHas) {
  const RedisServer server;
  ASSERT_EQ(server.call({"ACL", "SETUSER", "agent", "on", ">secret", "~*", "&*", "+@all"}), "OK");
  const std::string store = fmt::format("redis://agent:secret@127.0.0.1:{}", server.port());
  ASSERT_EQ(as("ann", {"acquire", "x", "--store", store}).exit, 0);

  const Ran refused = as("bob", {"acquire", "x", "--store", store});
  EXPECT_TRUE(contains(refused.err, "lease acquire --wait 5m x --store 'redis://agent:***@127.0.0.1"))
      << refused.err;
  EXPECT_FALSE(contains(refused.err, "secret")) << refused.err;

  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  const Ran waited = as("bob", {"acquire", "src/a.ts", "--profile", "job", "--set", "wait_max=20ms"});
  EXPECT_EQ(waited.exit, kTimeout) << waited.err;
  EXPECT_TRUE(contains(waited.err, "To wait for it: lease acquire src/a.ts --profile job")) << waited.err;
}

// Redis without what tells of folders: nothing of ours takes that away.
TEST_F(Acquire, ADoctorSeesTwoThatExcludeEachOther) {
  const RedisServer server;
  std::ofstream(root() + "/.leasehold.toml") << "workspace = \"w\"\n";
  ASSERT_EQ(as("ann", {"acquire", "--subtree", "src", "--store", server.url()}).exit, 0);
  EXPECT_EQ(as("ann", {"doctor", "--store", server.url()}).exit, 0);
  ASSERT_EQ(server.call({"DEL", "{w}:lease:dirs"}), "1");
  ASSERT_EQ(as("bob", {"acquire", "src/a.ts", "--store", server.url()}).exit, 0) << "nothing was lost";

  const Ran seen = as("ann", {"doctor", "--repair", "--store", server.url()});

  EXPECT_EQ(seen.exit, 74) << seen.out;
  EXPECT_TRUE(contains(seen.out, "lease force-release --id")) << seen.out;
}

TEST_F(Acquire, ADoctorEndsInHistoryWhatIsLostInRedis) {
  const RedisServer server;
  std::ofstream(root() + "/.leasehold.toml") << "workspace = \"w\"\n";
  const auto got = json("ann", {"acquire", "src/a.ts", "--store", server.url()});
  const std::string id(got.at("leases").at(0).at("id").as_string());
  ASSERT_EQ(server.call({"DEL", "{w}:lease:file:/src/a.ts"}), "1");
  ASSERT_EQ(server.call({"SET", "{w}:lease:id:" + id, "garbage"}), "OK");
  EXPECT_EQ(as("ann", {"doctor", "--store", server.url()}).exit, 74);

  EXPECT_EQ(as("ann", {"doctor", "--repair", "--store", server.url()}).exit, 0);

  const Ran seen = as("ann", {"doctor", "--store", server.url()});
  EXPECT_EQ(seen.exit, 0) << seen.out;
}

TEST_F(Acquire, ExitsWithTheStatusChosenForConflicts) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);

  EXPECT_EQ(as("bob", {"acquire", "src/a.ts", "--conflict-exit-code", "7"}).exit, 7);
  EXPECT_EQ(as("bob", {"acquire", "src/a.ts", "-E", "0"}).exit, 0);
  EXPECT_EQ(as("bob", {"acquire", "src/a.ts", "-E", "256"}).exit, kUsage);
  EXPECT_EQ(json("bob", {"acquire", "src/a.ts", "-E", "7"}).at("error").at("exit_code"), 7);
}

TEST_F(Acquire, SaysHowLongItWaitedInVain) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);

  const Ran ran = as("bob", {"acquire", "src/a.ts", "--wait", "30ms"});

  EXPECT_EQ(ran.exit, kTimeout);
  EXPECT_TRUE(contains(ran.err, "ann")) << ran.err;
}

TEST_F(Acquire, GoesOnAsSoonAsTheHolderReleases) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  StartedLease bob = started("bob", {"acquire", "src/a.ts", "--wait", "2m"});
  ASSERT_TRUE(eventually([&] { return waits("bob"); }));

  ASSERT_EQ(as("ann", {"release", "src/a.ts"}).exit, 0);

  const Ran granted = bob.wait();
  EXPECT_EQ(granted.exit, 0) << granted.err;
}

TEST_F(Acquire, IsTakenOverByWhoAsksAgainForAKilledOne) {
  const std::vector<std::string> asks = {"acquire", "src/a.ts", "--wait", "2m", "--idempotency-key", "k"};
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  StartedLease killed = started("bob", asks);
  ASSERT_TRUE(eventually([&] { return waits("bob"); }));
  killed.signal(SIGKILL);
  (void)killed.wait();

  StartedLease again = started("bob", asks);
  ASSERT_TRUE(eventually([&] { return waits("bob"); }));
  ASSERT_EQ(as("ann", {"release", "src/a.ts"}).exit, 0);

  const Ran granted = again.wait();
  EXPECT_EQ(granted.exit, 0) << granted.err;
}

TEST_F(Acquire, IsSeenToWaitOnTheBoard) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  StartedLease bob = started("bob", {"acquire", "src/a.ts", "--wait", "2m"});
  ASSERT_TRUE(eventually([&] { return waits("bob"); }));

  const auto rows = json("ann", {"status", "src/a.ts"}).at("leases").as_array();
  ASSERT_EQ(rows.size(), 2);
  const auto& waiter = rows[0].at("agent_id") == "bob" ? rows[0] : rows[1];
  EXPECT_EQ(waiter.at("verdict").at("liveness"), "alive") << waiter;
  EXPECT_TRUE(waiter.at("acquired_at").is_null()) << waiter;
}

TEST_F(Acquire, SaysAtATerminalWhatItWaitsFor) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  auto variables = environment("bob");
  variables.push_back("TERM=xterm");
  const auto waits_with = [&](const std::string& option) {
    const std::string command = fmt::format("{} acquire src/a.ts --wait 1500ms {}", LEASE_BINARY, option);
    StartedProgram at_terminal({"/usr/bin/script", "-qec", command, "/dev/null"}, variables, root());
    return at_terminal.wait().out;
  };

  const std::string shown = waits_with("");
  EXPECT_TRUE(contains(shown, "Waiting for /src/a.ts, held by ann (1s)\r\x1b[K")) << shown;
  EXPECT_FALSE(contains(waits_with("-q"), "Waiting"));
}

TEST_F(Acquire, GivesItsPlaceUpWhenInterrupted) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  StartedLease bob = started("bob", {"acquire", "src/a.ts", "--wait", "2m"});
  ASSERT_TRUE(eventually([&] { return waits("bob"); }));

  bob.signal(SIGINT);

  EXPECT_EQ(bob.wait().exit, -1);  // By the signal, as a shell wants to see it.
  EXPECT_FALSE(waits("bob"));
}

TEST_F(Acquire, LeasesWholeFolders) {
  ASSERT_EQ(as("ann", {"acquire", "--subtree", "src", "--subtree", "docs"}).exit, 0);

  EXPECT_EQ(as("bob", {"acquire", "src/new.ts"}).exit, kBusy);
  EXPECT_EQ(as("bob", {"acquire", "docs/x.md"}).exit, kBusy);
  EXPECT_EQ(as("bob", {"acquire", "tests/a.test.ts"}).exit, 0);
}

TEST_F(Acquire, SharesForReading) {
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md", "--mode", "shared"}).exit, 0);

  EXPECT_EQ(as("bob", {"acquire", "docs/x.md", "--mode", "shared"}).exit, 0);
  EXPECT_EQ(as("cyd", {"acquire", "docs/x.md"}).exit, kBusy);
}

TEST_F(Acquire, ReadsListsFromStandardInput) {
  ASSERT_EQ(as("ann", {"acquire", "-", "--no-pairs"}, "src/a.ts\nsrc/b.ts\n").exit, 0);
  ASSERT_EQ(as("ann", {"acquire", "-0", "-"}, std::string("docs/x.md\0odd\nname\0", 19)).exit, 0);

  EXPECT_EQ(as("ann", {"ls"}).out,
            "/docs/x.md\texclusive\tann\n\"/odd\\x0aname\"\texclusive\tann\n/src/a.ts\texclusive\tann\n"
            "/src/b.ts\texclusive\tann\n");
}

TEST_F(Acquire, TakesWhatFollowsTheDashesForFiles) {
  EXPECT_EQ(as("ann", {"acquire", "--", "--mode"}).exit, 0);
  EXPECT_TRUE(contains(as("ann", {"ls"}).out, "/--mode\t"));
}

TEST_F(Acquire, TakesBracketsForWhatTheyAre) {
  EXPECT_EQ(as("ann", {"acquire", "app/[id].tsx", "[a,b]"}).exit, 0);

  EXPECT_EQ(as("ann", {"ls"}).out, "\"/[a,b]\"\texclusive\tann\n/app/[id].tsx\texclusive\tann\n");
}

TEST_F(Acquire, RefusesAFlagWithAValueAndAFolderThatIsNotThere) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);

  EXPECT_EQ(as("ann", {"release", "--all=false"}).exit, 64);
  EXPECT_EQ(as("ann", {"acquire", "-C", "nowhere", "x"}).exit, 64);
  EXPECT_FALSE(std::filesystem::exists(root() + "/nowhere"));
  EXPECT_NE(as("ann", {"ls"}).out, "");
}

TEST_F(Acquire, AKilledWaiterIsGrantedNothing) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  {
    StartedLease bob = started("bob", {"acquire", "src/b.ts", "--wait", "10m"});
    ASSERT_TRUE(eventually([&] { return waits("bob"); }));
    bob.signal(SIGKILL);
    (void)bob.wait();
  }

  ASSERT_EQ(as("ann", {"release", "src/b.ts"}).exit, 0);

  EXPECT_EQ(as("cyd", {"acquire", "src/b.ts"}).exit, 0);
}

TEST_F(Acquire, RefusesMistakesAndGuessesWhatWasMeant) {
  const struct {
    std::vector<std::string> arguments;
    const char* part;
  } cases[] = {
      {{"acquire"}, "Which files?"},
      {{"acquire", "src/a.ts", "--wiat", "5m"}, "Did you mean --wait?"},
      {{"acquire", "src/a.ts", "--mode", "sharde"}, "Did you mean shared?"},
      {{"acquire", "src/a.ts", "--ttl", "5"}, "give a duration with its unit"},
      {{"acquire", "src/a.ts", "--ttl"}, "needs a value"},
      {{"acquire", "src/a.ts", "--priority", "11"}, "from -10 to 10"},
      {{"acquire", "src/*.ts"}, "src"},
      {{"acquire", "/etc/passwd"}, "outside"},
      {{"aquire", "src/a.ts"}, "Did you mean acquire?"},
  };
  for (const auto& [arguments, part] : cases) {
    const Ran ran = as("ann", arguments);
    EXPECT_EQ(ran.exit, kUsage) << part;
    EXPECT_TRUE(contains(ran.err, part)) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
  EXPECT_EQ(as("ann", {"ls"}).out, "");
}

TEST_F(Acquire, SaysThatTheTtlWasCut) {
  const Ran ran = as("ann", {"acquire", "src/b.ts", "--ttl", "100h"});

  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(contains(ran.err, "cut")) << ran.err;
}

TEST_F(Acquire, AnswersTheSameUnderTheSameKey) {
  const auto first = json("ann", {"acquire", "src/b.ts", "--idempotency-key", "k"});
  const auto second = json("ann", {"acquire", "src/b.ts", "--idempotency-key", "k"});

  EXPECT_EQ(second.at("group_id"), first.at("group_id"));
  EXPECT_EQ(second.at("replayed"), true);
}

TEST_F(Acquire, GivesBackWhatCannotBeTold) {
  const auto to_nowhere = [&](const std::vector<std::string>& arguments) {
    return run_lease(arguments,
                     {.environment = environment("ann"), .out = "/dev/full", .cwd = root(), .in = {}});
  };
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md", "--mode", "shared"}).exit, 0);
  const std::string before = as("ann", {"ls"}).out;

  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"acquire", "src/a.ts", "src/b.ts", "docs/x.md"},
        {"acquire", "--json", "src/a.ts", "src/b.ts", "docs/x.md"},
        {"upgrade", "docs/x.md"}}) {
    const Ran ran = to_nowhere(arguments);
    EXPECT_EQ(ran.exit, kCannotWrite);
    EXPECT_TRUE(contains(ran.err, "What was granted could not be told, and is given back.")) << ran.err;
    EXPECT_EQ(as("ann", {"ls"}).out, before);
  }

  EXPECT_EQ(to_nowhere({"acquire", "src/a.ts", "--idempotency-key", "k"}).exit, kCannotWrite);
  EXPECT_EQ(json("ann", {"acquire", "src/a.ts", "--idempotency-key", "k"}).at("replayed"), true);
}

// A container, a new origin, another place: the store that goes along knows who holds what.
TEST_F(Acquire, AFileIsHeldWhateverBecomesOfItsRepository) {
  if (is_served()) GTEST_SKIP() << "for a server clones are one by their origin";
  const auto asks = [&](const char* agent, const char* folder) {
    return as(agent, {"-C", folder, "acquire", "a.ts"}).exit;
  };
  sh("git init -q one");
  ASSERT_EQ(asks("ann", "one"), 0);

  EXPECT_EQ(asks("bob", "one"), 75);
  sh("git -C one remote add origin git@example.org:a/b");
  EXPECT_EQ(asks("bob", "one"), 75);
  sh("mv one two");
  EXPECT_EQ(asks("bob", "two"), 75);
  sh("echo 'workspace = \"named\"' > two/.leasehold.toml");
  EXPECT_EQ(asks("bob", "two"), 75);
  EXPECT_EQ(as("ann", {"-C", "two", "release", "a.ts"}).exit, 0);
}

// The work tree's leases are in the repository, wherever that is now.
TEST_F(Acquire, AWorkTreeWhoseRepositoryIsLostGrantsNothing) {
  if (is_served()) GTEST_SKIP() << "a server has its store elsewhere";
  sh("git init -q one && cd one && git -c user.name=a -c user.email=b commit -q --allow-empty -m x &&"
     " git worktree add -q ../tree");
  ASSERT_EQ(as("ann", {"-C", "tree", "acquire", "a.ts"}).exit, 0);
  sh("mv one two");

  const Ran lost = as("bob", {"-C", "tree", "acquire", "a.ts"});
  EXPECT_EQ(lost.exit, 69) << lost.err;
  EXPECT_TRUE(contains(lost.err, "git worktree repair " + root() + "/tree")) << lost.err;
  sh("git -C two worktree repair ../tree");
  EXPECT_EQ(as("bob", {"-C", "tree", "acquire", "a.ts"}).exit, 75);

  sh("mv two three");
  EXPECT_EQ(
      as("bob", {"-C", "tree", "acquire", "b.ts", "--store", "sqlite:" + root() + "/tree/.leasehold"}).exit,
      0)
      << "who says so keeps leases in the tree itself";
  EXPECT_EQ(as("ann", {"-C", "tree", "acquire", "b.ts"}).exit, 75);
}

TEST_F(Acquire, AFileIsHeldAlsoWhenItsFolderBecomesARepository) {
  if (is_served()) GTEST_SKIP() << "a server has its store elsewhere";
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
  sh("git init -q .");

  EXPECT_EQ(as("bob", {"acquire", "docs/x.md"}).exit, 75);
  EXPECT_EQ(as("ann", {"release", "docs/x.md"}).exit, 0);
  EXPECT_FALSE(std::filesystem::exists(root() + "/.git/leasehold/leases.db"));
}

TEST_F(Acquire, SaysThatAWorkTreeInAFolderIsApart) {
  sh("git init -q . && git init -q docs/inner");

  const Ran around = as("ann", {"acquire", "--subtree", "docs"});
  EXPECT_EQ(around.exit, 0);
  EXPECT_TRUE(contains(around.err, "docs has another work tree inside")) << around.err;
  EXPECT_TRUE(contains(around.err, "docs/inner acquire --subtree .")) << around.err;
  EXPECT_EQ(as("ann", {"acquire", "--subtree", "src"}).err, "");
}

TEST_F(Acquire, SaysThatAFolderIsMoreThanItsName) {
  const Ran ran = as("ann", {"acquire", "src"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(contains(ran.err, "--subtree src")) << ran.err;
  EXPECT_EQ(as("bob", {"acquire", "--subtree", "docs"}).err, "");
}

}  // namespace
}  // namespace leasehold
