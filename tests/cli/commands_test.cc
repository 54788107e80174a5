// Every command does what it says, once, and the exit codes are those of the one table.
#include <gtest/gtest.h>

#include <algorithm>

#include "scene.h"

namespace leasehold {
namespace {

using Commands = Scene;

TEST_F(Commands, ReleaseGivesBackWithPairs) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);

  EXPECT_EQ(as("ann", {"release", "src/a.ts"}).exit, 0);

  EXPECT_EQ(as("ann", {"ls"}).out, "");
  EXPECT_TRUE(contains(as("ann", {"release", "src/a.ts"}).out, "ended before"));
}

TEST_F(Commands, ReleaseAllAndByPr) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts", "--pr", "42"}).exit, 0);
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);

  EXPECT_EQ(as("ann", {"release", "--pr", "42"}).exit, 0);
  EXPECT_EQ(as("ann", {"ls"}).out, "/docs/x.md\texclusive\tann\n");

  EXPECT_EQ(as("ann", {"release", "--all"}).exit, 0);
  EXPECT_EQ(as("ann", {"ls"}).out, "");
}

TEST_F(Commands, ReleaseWantsToKnowWhatExactlyOnce) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);

  EXPECT_EQ(as("ann", {"release"}).exit, 64);
  EXPECT_EQ(as("ann", {"release", "--all", "src/b.ts"}).exit, 64);
}

TEST_F(Commands, CheckTellsWhatBecameOfAToken) {
  const std::string token = token_of("ann", "src/b.ts");
  EXPECT_EQ(as("ann", {"check", "src/b.ts", "--token", token}).exit, 0);
  EXPECT_EQ(as("ann", {"check", "src/b.ts", "--token", "7"}).exit, 77);
  EXPECT_EQ(as("ann", {"check", "src/b.ts"}).exit, 64);

  ASSERT_EQ(as("ann", {"transfer", "--to", "bob", "src/b.ts"}).exit, 0);
  EXPECT_EQ(as("ann", {"check", "src/b.ts", "--token", token}).exit, 79);
}

TEST_F(Commands, RenewExtends) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);

  const auto answer = json("ann", {"renew", "src/b.ts", "--ttl", "20m"});

  EXPECT_EQ(answer.at("outcomes").at(0).at("done"), true);
  EXPECT_EQ(answer.at("outcomes").at(0).at("lease").at("ttl_ms"), 1'200'000);
  EXPECT_EQ(as("ann", {"renew", "--all"}).exit, 0);
  EXPECT_EQ(as("bob", {"renew", "src/b.ts"}).exit, 77);
}

TEST_F(Commands, RenewNoMoreOftenThanAllowed) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts", "--max-renewals", "0"}).exit, 0);

  EXPECT_EQ(as("ann", {"renew", "src/b.ts"}).exit, 77);
}

TEST_F(Commands, UpgradeRaisesTheTestsThatCameAlongAndNoOthers) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts", "--mode", "shared", "--no-pairs"}).exit, 0);
  ASSERT_EQ(as("bob", {"acquire", "tests/a.test.ts"}).exit, 0);
  EXPECT_EQ(as("ann", {"upgrade", "src/a.ts"}).exit, 0);
  EXPECT_EQ(as("ann", {"upgrade", "tests/a.test.ts"}).exit, 77) << "bob's, and asked for by name";
  ASSERT_EQ(as("bob", {"release", "--all"}).exit, 0);
  ASSERT_EQ(as("ann", {"release", "--all"}).exit, 0);

  ASSERT_EQ(as("ann", {"acquire", "src/a.ts", "--mode", "shared"}).exit, 0);
  EXPECT_EQ(as("ann", {"upgrade", "src/a.ts"}).exit, 0);
  EXPECT_EQ(as("ann", {"ls"}).out, "/src/a.ts\texclusive\tann\n/tests/a.test.ts\texclusive\tann\n");
}

TEST_F(Commands, UpgradeAndDowngradeInPlace) {
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md", "--mode", "shared"}).exit, 0);
  ASSERT_EQ(as("bob", {"acquire", "docs/x.md", "--mode", "shared"}).exit, 0);
  EXPECT_EQ(as("ann", {"upgrade", "docs/x.md"}).exit, 75);
  EXPECT_EQ(as("ann", {"upgrade", "docs/x.md", "--wait", "0s"}).exit, 75);
  ASSERT_EQ(as("bob", {"release", "docs/x.md"}).exit, 0);

  EXPECT_EQ(as("ann", {"upgrade", "docs/x.md"}).exit, 0);
  EXPECT_EQ(as("ann", {"ls"}).out, "/docs/x.md\texclusive\tann\n");

  EXPECT_EQ(as("ann", {"downgrade", "docs/x.md"}).exit, 0);
  EXPECT_EQ(as("ann", {"ls"}).out, "/docs/x.md\tshared\tann\n");
  EXPECT_EQ(as("ann", {"downgrade", "docs/x.md"}).out, "/docs/x.md  shared already\n");
}

TEST_F(Commands, UpgradeWaitsForReaders) {
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md", "--mode", "shared"}).exit, 0);
  ASSERT_EQ(as("bob", {"acquire", "docs/x.md", "--mode", "shared"}).exit, 0);
  StartedLease upgrade = started("ann", {"upgrade", "docs/x.md", "--wait", "2m"});
  ASSERT_TRUE(eventually([&] { return waits("ann"); }));

  ASSERT_EQ(as("bob", {"release", "docs/x.md"}).exit, 0);

  EXPECT_EQ(upgrade.wait().exit, 0);
}

TEST_F(Commands, TransferHandsOverAndTells) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);

  EXPECT_EQ(
      as("ann", {"transfer", "--to", "bob", "--to-session", "s-bob", "--note", "yours", "src/b.ts"}).exit, 0);

  const Ran told = as("bob", {"acquire", "src/b.ts"});
  EXPECT_EQ(told.exit, 0);
  EXPECT_TRUE(contains(told.err, "/src/b.ts comes from ann: \"yours\"")) << told.err;
}

TEST_F(Commands, ANoticeOfAFolderSaysSo) {
  ASSERT_EQ(as("ann", {"acquire", "--subtree", "docs"}).exit, 0);
  ASSERT_EQ(as("olga", {"force-release", "docs", "--reason", "cleanup"}).exit, 0);

  const Ran told = as("ann", {"acquire", "src/b.ts"});

  EXPECT_TRUE(contains(told.err, "/docs/** was taken from you by olga: \"cleanup\"")) << told.err;
}

TEST_F(Commands, WhatIsAskedBackIsNotToldAsALoss) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  ASSERT_EQ(as("olga", {"force-release", "src/b.ts", "--recall", "1m", "--reason", "need"}).exit, 0);

  EXPECT_TRUE(contains(as("ann", {"status"}).out, ", asked back")) << as("ann", {"status"}).out;
  const Ran told = as("ann", {"renew", "src/b.ts"});

  EXPECT_EQ(told.exit, 0);
  EXPECT_TRUE(contains(told.err, "/src/b.ts is asked back by olga: \"need\". It ends in ")) << told.err;
  EXPECT_TRUE(contains(told.err, ": release it when you can.")) << told.err;
}

TEST_F(Commands, ForceReleaseNeedsAReason) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  EXPECT_EQ(as("boss", {"force-release", "src/b.ts"}).exit, 64);

  EXPECT_EQ(as("boss", {"force-release", "src/b.ts", "--reason", "hangs"}).exit, 0);

  EXPECT_EQ(as("bob", {"acquire", "src/b.ts"}).exit, 0);
  EXPECT_TRUE(contains(as("ann", {"release", "--all"}).err, "hangs"));
}

TEST_F(Commands, StatusShowsHoldersAndWaiters) {
  EXPECT_EQ(as("ann", {"status"}).out, "Nothing is leased.\n");
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts", "--reason", "r1"}).exit, 0);
  StartedLease bob = started("bob", {"acquire", "src/b.ts", "--wait", "2m"});
  ASSERT_TRUE(eventually([&] { return waits("bob"); }));

  const Ran ran = as("cyd", {"status"});

  EXPECT_TRUE(std::regex_search(ran.out, std::regex("PATH +MODE +OWNER +SINCE +ENDS IN +ALIVE +REASON")))
      << ran.out;
  EXPECT_TRUE(std::regex_search(ran.out, std::regex("/src/b.ts +exclusive +ann/s-ann .* unknown +\"r1\"")))
      << ran.out;
  EXPECT_TRUE(std::regex_search(ran.out, std::regex("  /src/b.ts +exclusive +bob/s-bob +[0-9a-z]+ +waits")))
      << ran.out;
  EXPECT_EQ(as("cyd", {"status", "docs"}).out, "Nothing of that is leased.\n");
  EXPECT_TRUE(contains(as("cyd", {"agents"}).out, "bob"));
}

TEST_F(Commands, StatusTellsThePast) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  ASSERT_EQ(as("ann", {"release", "src/b.ts"}).exit, 0);
  const auto events = json("ann", {"history"}).at("events").as_array();
  ASSERT_EQ(events.size(), 2u);

  const std::string then(events.at(0).at("at").as_string());

  EXPECT_TRUE(contains(as("bob", {"status", "--at", then}).out, "ann/s-ann"));
  EXPECT_EQ(as("bob", {"status", "--at", "1h"}).out, "Nothing is leased.\n");
  EXPECT_EQ(as("bob", {"status", "--at", "0s"}).out, "Nothing is leased.\n");
  EXPECT_EQ(as("bob", {"status", "--at", "noon"}).exit, 64);
}

TEST_F(Commands, HistoryTellsEveryChange) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts", "--reason", "why"}).exit, 0);
  ASSERT_EQ(as("ann", {"release", "src/b.ts"}).exit, 0);

  const Ran ran = as("bob", {"history", "src/b.ts"});

  EXPECT_TRUE(
      std::regex_match(ran.out, std::regex("[-0-9T:.]+Z  acquired   /src/b.ts  ann  exclusive  \"why\"\n"
                                           "[-0-9T:.]+Z  released   /src/b.ts  ann  exclusive  released\n")))
      << ran.out;
  EXPECT_EQ(as("bob", {"history", "--agent", "cyd"}).out, "");
  EXPECT_TRUE(std::regex_search(as("bob", {"history", "--timeline"}).out, std::regex("/src/b.ts  \\|A+")));
}

TEST_F(Commands, AFolderWithAllBelowItIsNamedAsOneEverywhere) {
  ASSERT_EQ(as("ann", {"acquire", "--subtree", "docs"}).exit, 0);
  EXPECT_TRUE(contains(as("x", {"history"}).out, " /docs/**  ann")) << as("x", {"history"}).out;
  ASSERT_EQ(as("ann", {"release", "docs"}).exit, 0);

  ASSERT_EQ(as("ann", {"acquire", "--subtree", "."}).exit, 0);
  EXPECT_EQ(as("ann", {"ls"}).out, "/**\texclusive\tann\n");
}

TEST_F(Commands, AFolderMayBeNamedAsItIsPrinted) {
  for (const char* name : {"/docs/**", "file:/docs/**", "docs/**", "docs"}) {
    ASSERT_EQ(as("ann", {"acquire", "--subtree", "docs"}).exit, 0);
    EXPECT_TRUE(contains(as("ann", {"status", name}).out, "/docs/**")) << name;
    EXPECT_EQ(as("ann", {"release", name}).exit, 0) << name;
  }
  ASSERT_EQ(as("ann", {"acquire", "--subtree", "."}).exit, 0);
  EXPECT_EQ(as("ann", {"release", "/**"}).exit, 0);
  const Ran unclear = as("ann", {"acquire", "/docs/**"});
  EXPECT_EQ(unclear.exit, 64);
  EXPECT_TRUE(contains(unclear.err, "\"file:/docs\"")) << unclear.err;
}

TEST_F(Commands, AGlobIsAnsweredWithWhatTheCommandHas) {
  ASSERT_EQ(as("ann", {"acquire", "--subtree", "docs"}).exit, 0);
  const Ran ran = as("ann", {"release", "docs/*"});
  EXPECT_EQ(ran.exit, 64);
  EXPECT_TRUE(contains(ran.err, "Name the folder or the files.")) << ran.err;
}

TEST_F(Commands, WatchTellsEventsAsTheyHappen) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  StartedLease watch = started("bob", {"watch", "--json", "--after", "0", "--limit", "2"});

  ASSERT_EQ(as("ann", {"release", "src/b.ts"}).exit, 0);

  const Ran ran = watch.wait();
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "\"type\":\"acquired\"")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "\"type\":\"released\"")) << ran.out;
}

TEST_F(Commands, WatchTellsOnlyWhatIsAskedFor) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  ASSERT_EQ(as("bob", {"acquire", "docs/x.md"}).exit, 0);

  EXPECT_TRUE(
      contains(as("ann", {"watch", "--after", "0", "--limit", "1", "--agent", "bob"}).out, "/docs/x.md"));
  EXPECT_TRUE(contains(as("ann", {"watch", "--after", "0", "--limit", "1", "docs"}).out, "/docs/x.md"));
}

TEST_F(Commands, WatchEndsWhenNobodyReads) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  StartedProgram piped({"/bin/sh", "-c", "exec 3>&1; { " LEASE_BINARY " watch; echo ended $? >&3; } | true"},
                       environment("bob"), root());
  EXPECT_TRUE(eventually([&] { return contains(piped.out(), "ended 0"); }));
}

TEST_F(Commands, WatchShowsTheBoardAsItChanges) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  StartedLease watch = started("bob", {"watch", "--board"});
  ASSERT_TRUE(eventually([&] { return contains(watch.out(), "/src/b.ts"); }));

  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);

  EXPECT_TRUE(eventually([&] { return contains(watch.out(), "/docs/x.md"); }));

  ASSERT_EQ(as("bob", {"force-release", "docs/x.md", "--recall", "1m", "--reason", "x"}).exit, 0);

  EXPECT_TRUE(eventually([&] { return contains(watch.out(), "asked back"); })) << watch.out();
}

TEST_F(Commands, WatchPrintsAsManyBoardsAsAskedForAndNoneTwice) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  EXPECT_TRUE(contains(as("bob", {"watch", "--board", "--limit", "1"}).out, "/src/b.ts"));

  StartedLease watch = started("bob", {"watch", "--board", "--json", "--limit", "2"});
  ASSERT_TRUE(eventually([&] { return contains(watch.out(), "/src/b.ts"); }));
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
  const Ran ran = watch.wait();
  EXPECT_EQ(ran.exit, 0);
  ASSERT_EQ(std::ranges::count(ran.out, '\n'), 2) << ran.out;
  EXPECT_TRUE(contains(ran.out.substr(ran.out.find('\n')), "/docs/x.md")) << ran.out;
}

TEST_F(Commands, ColoursAreAsAskedFor) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);

  EXPECT_TRUE(contains(as("ann", {"status", "--color=always"}).out, "\x1b["));
  EXPECT_FALSE(contains(as("ann", {"status", "--color=never"}).out, "\x1b["));
  EXPECT_FALSE(contains(as("ann", {"status"}).out, "\x1b["));
}

TEST_F(Commands, TellsWhatHappensToLeasesWhenVerbose) {
  if (is_served()) GTEST_SKIP() << "the server tells it, in its own log";
  const Ran ran = as("ann", {"acquire", "-v", "src/b.ts"});

  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(contains(ran.err, "/src/b.ts")) << ran.err;
  EXPECT_EQ(as("ann", {"acquire", "src/b.ts"}).err, "");
}

TEST_F(Commands, ConfigShowsWhereValuesComeFrom) {
  EXPECT_EQ(as("ann", {"config", "get", "ttl"}).out, "5m\n");
  EXPECT_EQ(as("ann", {"config", "set", "ttl", "7m"}).out, "7m\n");
  EXPECT_TRUE(std::regex_search(as("ann", {"config", "list"}).out, std::regex("\nttl +7m +store ")));
  EXPECT_EQ(as("ann", {"config", "unset", "ttl"}).out, "5m\n");
  EXPECT_EQ(as("ann", {"config", "get", "tll"}).exit, 64);
  EXPECT_TRUE(contains(as("ann", {"config", "get", "tll"}).err, "Did you mean ttl?"));
  EXPECT_EQ(as("ann", {"config", "set", "ttl"}).exit, 64);
}

TEST_F(Commands, ConfigListsTheSwitchesOfTheGate) {
  const std::string before = as("ann", {"config", "list"}).out;
  EXPECT_TRUE(std::regex_search(before, std::regex("\ngate_stale_read +true +\"?built-in"))) << before;
  configure("gate_stale_read = false\n");
  const std::string after = as("ann", {"config", "list"}).out;
  EXPECT_TRUE(std::regex_search(after, std::regex("\ngate_stale_read +false +[^\n]*leasehold[.]toml:1")))
      << after;
}

TEST_F(Commands, ConfigSaysWhenSomethingElseCounts) {
  EXPECT_EQ(as("ann", {"config", "set", "ttl", "10m"}).out, "10m\n");
  const Ran other = as("ann", {"config", "set", "ttl", "20m", "--for-profile", "job"});
  EXPECT_EQ(other.out, "10m\n");
  EXPECT_TRUE(contains(other.err, "For you 10m counts, from: store")) << other.err;
  EXPECT_EQ(as("ann", {"config", "get", "ttl", "--profile", "job"}).out, "20m\n");
}

TEST_F(Commands, ConfigDoesNotStoreWhatHooksTakeFromFiles) {
  for (const char* name : {"gate_fail_open", "git_hook_required", "gate_reads", "gate_stale_read"}) {
    const Ran ran = as("ann", {"config", "set", name, "true"});
    EXPECT_EQ(ran.exit, 64) << name;
    EXPECT_TRUE(contains(ran.err, ".leasehold.toml")) << ran.err;
    EXPECT_EQ(as("ann", {"config", "unset", name}).exit, 0) << "an old one can go";
  }
  EXPECT_EQ(as("ann", {"config", "set", "gate_retry", "1m"}).out, "1m\n");
}

TEST_F(Commands, ConfigSaysThatNothingWasSet) {
  const Ran nothing = as("ann", {"config", "unset", "ttl"});
  EXPECT_EQ(nothing.out, "5m\n");
  EXPECT_TRUE(contains(nothing.err, "ttl is not set in the store")) << nothing.err;
  ASSERT_EQ(as("ann", {"config", "set", "ttl", "10m"}).exit, 0);
  EXPECT_TRUE(contains(as("ann", {"config", "unset", "ttl"}).err, "ttl is removed from the store."));
}

TEST_F(Commands, ConfigTakesNegativeNumbers) {
  EXPECT_EQ(as("ann", {"config", "set", "max_renewals", "-1"}).out, "-1\n");
  EXPECT_TRUE(contains(as("ann", {"config", "set", "tll", "5m"}).err, "Did you mean ttl?"));
}

TEST_F(Commands, DoctorNamesSettingsThatAreNone) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  std::ofstream(root() + "/.leasehold.toml") << "\ntll = \"5m\"\n";
  EXPECT_TRUE(contains(as("ann", {"doctor"}).out, ".leasehold.toml:2: There is no setting \"tll\""));
}

TEST_F(Commands, DoctorSaysWhatToDoAboutADamagedStore) {
  if (is_served()) GTEST_SKIP() << "there is no embedded store here";
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  for (const char* name : {"leases.db-wal", "leases.db-shm"})
    std::filesystem::remove(root() + "/.leasehold/" + name);
  std::ofstream(root() + "/.leasehold/leases.db") << std::string(8'192, 'x');
  const Ran ran = as("ann", {"doctor", "--json"});
  EXPECT_EQ(ran.exit, 74);
  EXPECT_TRUE(contains(ran.out, "\"healthy\":false")) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "Restore it from a backup")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "Look at it with: lease doctor")) << ran.out;
}

TEST_F(Commands, ThePastEndsWhatRanOut) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts", "--ttl", "50ms", "--no-pairs"}).exit, 0);
  ASSERT_TRUE(eventually([&] { return contains(as("ann", {"status", "src/a.ts"}).out, "ended"); }));
  EXPECT_EQ(as("ann", {"status", "--at", "0s"}).out, "Nothing is leased.\n");
  EXPECT_FALSE(contains(as("ann", {"history", "--timeline", "--json"}).out, "\"to\":null"));
  ASSERT_EQ(as("ann", {"gc"}).exit, 0);
  EXPECT_FALSE(contains(as("ann", {"history", "--timeline", "--json"}).out, "\"to\":null"));
}

TEST_F(Commands, TheNextCommandSpellsOutAList) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts", "--no-pairs"}).exit, 0);
  const Ran ran = as("bob", {"acquire", "--no-pairs", "-"}, "src/a.ts\n");
  EXPECT_TRUE(contains(ran.err, "lease acquire --wait 5m --no-pairs src/a.ts")) << ran.err;
}

TEST_F(Commands, ConfigKeepsPasswordsToItself) {
  for (const char* url : {"redis://app:secret@127.0.0.1:1/0", "redis://127.0.0.1:1?password=secret&db=1",
                          "redis://:a/secret@b@127.0.0.1:1", "redis://:a@secret@127.0.0.1:1"}) {
    const Ran ran = as("ann", {"config", "list", "--store", url});
    EXPECT_FALSE(contains(ran.out + ran.err, "secret")) << ran.out << ran.err;
  }
}

TEST_F(Commands, CommonOptionsMayStandInFront) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  EXPECT_TRUE(as("ann", {"--json", "ls"}).out.starts_with("{"));
  EXPECT_EQ(as("ann", {"-C", "src", "-q", "acquire", "b.ts"}).exit, 0);
  EXPECT_EQ(as("ann", {"--workspace=src", "check", "b.ts", "--token", "1"}).exit, 77);
  EXPECT_TRUE(contains(as("ann", {"--help", "ls"}).out, "lease ls"));
  EXPECT_EQ(as("ann", {"--nonsense", "ls"}).exit, 64);
  EXPECT_EQ(as("ann", {"-C"}).exit, 64);
}

// What a path leads to may change while it is leased.
TEST_F(Commands, ALeaseIsNamedByItsPathAlsoWhereALinkIsNow) {
  ASSERT_EQ(as("ann", {"acquire", "--no-pairs", "src/b.ts", "docs/x.md", "src/c.ts"}).exit, 0);
  ASSERT_EQ(as("ann", {"release", "src/b.ts"}).exit, 0);
  std::filesystem::remove(root() + "/docs/x.md");
  std::filesystem::create_symlink("../src/b.ts", root() + "/docs/x.md");
  std::filesystem::create_symlink("/etc/hostname", root() + "/src/c.ts");

  EXPECT_TRUE(contains(as("bob", {"status", "docs/x.md"}).out, "/docs/x.md"));
  EXPECT_TRUE(contains(as("bob", {"ls", "src/c.ts"}).out, "/src/c.ts"));
  EXPECT_EQ(as("ann", {"renew", "docs/x.md"}).out.substr(0, 10), "/docs/x.md");
  EXPECT_EQ(as("ann", {"release", "file:/docs/x.md"}).out, "/docs/x.md  released\n");
  EXPECT_EQ(as("ann", {"release", "src/c.ts"}).out, "/src/c.ts  released\n");
  EXPECT_EQ(as("bob", {"ls"}).out, "");

  // What is leased through a link is given back through it, whoever has the link's own name from before.
  ASSERT_EQ(as("bob", {"acquire", "docs/x.md"}).exit, 0);
  EXPECT_EQ(as("bob", {"release", "docs/x.md"}).out, "/src/b.ts  released\n");
}

TEST_F(Commands, AFileThatIsTakenForAFolderIsNoted) {
  EXPECT_TRUE(contains(as("ann", {"acquire", "--subtree", "docs/x.md"}).err, "docs/x.md is a file"));
  EXPECT_EQ(as("ann", {"acquire", "--subtree", "docs"}).err, "");
}

TEST_F(Commands, AListFromWindowsNamesTheSameFiles) {
  ASSERT_EQ(as("ann", {"acquire", "-"}, "src/b.ts\r\ndocs/x.md\r\n").exit, 0);
  EXPECT_EQ(as("ann", {"ls"}).out, "/docs/x.md\texclusive\tann\n/src/b.ts\texclusive\tann\n");
}

TEST_F(Commands, ALongListIsSentInPieces) {
  std::vector<std::string> paths;
  for (int i = 0; i < 1'200; ++i) paths.push_back("src/" + std::to_string(i));
  for (const std::size_t from : {0, 600}) {
    std::vector<std::string> some = {"acquire", "-q"};
    some.insert(some.end(), paths.begin() + static_cast<std::ptrdiff_t>(from),
                paths.begin() + static_cast<std::ptrdiff_t>(from + 600));
    ASSERT_EQ(as("ann", some).exit, 0);
  }
  const std::string list = as("ann", {"ls", "-0"}).out;
  EXPECT_EQ(std::ranges::count(as("ann", {"status", "-0", "-"}, list).out, '\n'), 1'201);
  EXPECT_EQ(std::ranges::count(as("ann", {"renew", "-0", "-"}, list).out, '\n'), 1'200);
  EXPECT_EQ(as("ann", {"release", "-0", "-"}, list).exit, 0);
  EXPECT_EQ(as("ann", {"ls"}).out, "");
}

TEST_F(Commands, AnEmptyListIsNotEverything) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  for (const char* command : {"status", "ls", "release", "acquire"})
    EXPECT_EQ(as("ann", {command, "-"}, "\n").exit, 64) << command;
}

TEST_F(Commands, WhatLsNamesCanBeNamed) {
  add("src/new\nline.ts");
  ASSERT_EQ(as("ann", {"acquire", "src/new\nline.ts", "port:80", "--subtree", "docs"}).exit, 0);
  EXPECT_EQ(as("ann", {"ls", "docs"}).out, "/docs/**\texclusive\tann\n");

  const std::string list = as("ann", {"ls", "-0"}).out;
  ASSERT_EQ(as("ann", {"release", "-0", "-"}, list).exit, 0);
  EXPECT_EQ(as("ann", {"ls"}).out, "");
}

TEST_F(Commands, StatusTellsNoFuture) {
  EXPECT_EQ(as("ann", {"status", "--at", "2999-01-01T00:00:00Z"}).exit, 64);
}

TEST_F(Commands, ATimelineShowsWhatBeganBeforeIt) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
  ASSERT_EQ(as("ann", {"release", "docs/x.md"}).exit, 0);
  usleep(20'000);  // So that the release is older than what is asked for.
  const std::string text = as("ann", {"history", "--timeline", "--since", "10ms"}).out;
  EXPECT_TRUE(contains(text, "/src/b.ts")) << text;
  EXPECT_FALSE(contains(text, "/docs/x.md")) << text;
}

TEST_F(Commands, PairsNamesTestsAndRules) {
  EXPECT_EQ(as("ann", {"pairs", "src/a.ts"}).out,
            "/tests/a.test.ts  comes with /src/a.ts (rule javascript-tests-folder)\n");
}

TEST_F(Commands, GcCounts) {
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);

  EXPECT_TRUE(contains(as("ann", {"gc"}).out, "0 ended"));
}

TEST_F(Commands, DoctorTakesHistoryThatWasNotKeptForNoDamage) {
  if (is_served()) GTEST_SKIP() << "a server goes by its own settings";
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
  ASSERT_EQ(as("ann", {"config", "set", "keep_history", "false"}).exit, 0);
  ASSERT_EQ(as("ann", {"release", "--all"}).exit, 0);
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);

  const Ran off = as("ann", {"doctor"});
  EXPECT_EQ(off.exit, 0) << off.out;
  EXPECT_TRUE(contains(off.out, "it was not kept for a time (keep_history)")) << off.out;

  ASSERT_EQ(as("ann", {"config", "unset", "keep_history"}).exit, 0);
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  const Ran again = as("ann", {"doctor"});
  EXPECT_EQ(again.exit, 0) << again.out;
}

TEST_F(Commands, DoctorFindsAndRepairs) {
  if (is_served()) GTEST_SKIP() << "there is no embedded store here";
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  EXPECT_EQ(as("ann", {"doctor"}).exit, 0) << as("ann", {"doctor"}).out;
  ASSERT_EQ(chmod((root() + "/.leasehold").c_str(), 0755), 0);

  EXPECT_EQ(as("ann", {"doctor", "--repair"}).exit, 0);
  EXPECT_FALSE(contains(as("ann", {"doctor"}).out, "bad"));
}

TEST_F(Commands, SaysNothingWhenQuiet) {
  const Ran ran = as("ann", {"acquire", "-q", "src/a.ts"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.out + ran.err, "");
}

TEST_F(Commands, WithoutAStoreNothingIsHeld) {
  if (is_served()) GTEST_SKIP() << "a server always has a store";
  EXPECT_EQ(as("ann", {"pairs", "src/a.ts"}).exit, 0);
  EXPECT_EQ(as("ann", {"watch"}).exit, 66);
  EXPECT_EQ(as("ann", {"release", "src/a.ts"}).exit, 66);
  EXPECT_EQ(as("ann", {"check", "src/a.ts", "--token", "5"}).exit, 66);
  EXPECT_EQ(as("ann", {"release", "--all"}).exit, 0);
  EXPECT_EQ(as("ann", {"config", "list"}).exit, 0);
  EXPECT_EQ(as("ann", {"config", "get", "ttl"}).out, "5m\n");
  EXPECT_EQ(as("ann", {"config", "get", "store"}).out, "\n");
  EXPECT_FALSE(std::filesystem::exists(root() + "/.leasehold"));
}

// It would have the tree managed from then on.
TEST_F(Commands, AWrongCallLeavesNoStoreBehind) {
  if (is_served()) GTEST_SKIP() << "a server always has a store";
  EXPECT_EQ(as("ann", {"acquire", "../x"}).exit, 64);
  EXPECT_EQ(as("ann", {"acquire", ""}).exit, 64);
  EXPECT_EQ(as("ann", {"acquire", "src/a.ts", "--ttl", "0s"}).exit, 64);
  EXPECT_EQ(as("ann", {"acquire", "src/a.ts", "--agent", ""}).exit, 64);
  EXPECT_EQ(as("ann", {"run", "../x", "--", "true"}).exit, 64);
  EXPECT_EQ(as("ann", {"upgrade", "src/a.ts"}).exit, 66);
  EXPECT_EQ(as("ann", {"config", "set", "ttl", "nonsense"}).exit, 64);
  EXPECT_EQ(as("ann", {"config", "set", "gate_fail_open", "true"}).exit, 64);
  EXPECT_EQ(as("ann", {"config", "unset", "ttl"}).exit, 0);
  EXPECT_FALSE(std::filesystem::exists(root() + "/.leasehold"));

  EXPECT_EQ(as("ann", {"config", "set", "ttl", "10m"}).exit, 0);
  EXPECT_TRUE(std::filesystem::exists(root() + "/.leasehold"));
}

TEST_F(Commands, SaysThatTheStoreCannotBeOpened) {
  std::filesystem::create_directory(root() + "/.leasehold");
  for (const auto& entry : std::filesystem::directory_iterator(root() + "/.leasehold"))
    std::filesystem::remove_all(entry);
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts", "--store", "nowhere:1"}).exit, 78);
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts", "--store", "sqlite:/proc/nowhere"}).exit, 69);
}

}  // namespace
}  // namespace leasehold
