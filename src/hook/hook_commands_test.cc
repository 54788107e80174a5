// An agent's shell: what its command lines are asked for, and what is noticed of them afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "hook/staged_agents.h"

namespace leasehold {
namespace {

TEST_F(HookTest, ACommandMayNameMoreFilesThanOneRequest) {
  for (int i = 0; i < 1'500; ++i) write(fmt::format("o/{}.o", i), "");
  EXPECT_EQ(shell("s1", "rm o/*.o"), "");
  ASSERT_EQ(edit("s2", "o/777.o"), "");
  EXPECT_TRUE(mentions(shell("s1", "rm o/*.o"), "o/777.o"));
}

TEST_F(HookTest, ACommandLineIsGatedLikeAWrite) {
  write("a", "");
  EXPECT_EQ(edit("s1", "a"), "");

  EXPECT_TRUE(mentions(shell("s2", "sed -i s/x/y/ a"), "a is leased by claude-code"));
  EXPECT_TRUE(mentions(shell("s2", "cd sub; echo x > ../a; ls"), "a is leased"))
      << "where the folder is not there";
  EXPECT_EQ(shell("s1", "echo x >> a"), "") << "its own";
  EXPECT_EQ(shell("s2", "cat a > b"), "") << "it only reads it";
  EXPECT_EQ(holders("/b"), "claude-code@s2 ");
  EXPECT_NE(edit("s1", "b"), "");
}

TEST_F(HookTest, ADenialNamesAllThatIsInTheWayAndWhatWaitsForIt) {
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) write(name, "");
  for (const char* name : {"a", "b", "c", "d", "e"}) ASSERT_EQ(edit("s1", name), "");
  ASSERT_EQ(edit("s2", "f"), "");
  std::string denied = shell("s3", "sed -i s/x/y/ a b");
  EXPECT_TRUE(mentions(denied, "a and 1 more (b) are leased by claude-code (session s1) for")) << denied;
  EXPECT_TRUE(mentions(denied, "Or wait in line: lease acquire a b --wait 5m")) << denied;
  denied = shell("s3", "rm a b c d e f");
  EXPECT_TRUE(mentions(denied, "a and 4 more (b, c, d and 1 more) are leased by")) << denied;
  EXPECT_TRUE(mentions(denied, "; f by claude-code (session s2).")) << denied;
  EXPECT_TRUE(mentions(denied, "lease acquire a b c d e f --wait 5m")) << denied;

  write("src/x.ts", "");
  write("src/x.test.ts", "");
  ASSERT_EQ(edit("s1", "src/x.ts"), "");
  denied = shell("s3", "sed -i s/x/y/ src/x.ts");
  EXPECT_TRUE(mentions(denied, "src/x.ts is leased by")) << "its test comes and goes with it: " << denied;
  EXPECT_TRUE(mentions(denied, "lease acquire src/x.ts --wait 5m")) << denied;

  // From a folder below, and from another tree.
  std::filesystem::create_directories(root() + "/sub");
  StagedAgent agent = {
      .host = HookHost::claude_code, .session = "s3", .root = root() + "/sub", .subagent = {}};
  denied = call(report_of_write(agent, root() + "/a")).output;
  EXPECT_TRUE(mentions(denied, "lease acquire file:/a --wait 5m")) << denied;
  const TempFolder elsewhere;
  agent.root = elsewhere.path();
  denied = call(report_of_write(agent, root() + "/a")).output;
  EXPECT_TRUE(mentions(denied, "lease acquire -C " + root() + " file:/a --wait 5m")) << denied;
}

TEST_F(HookTest, ACommandThatIsRefusedInOneTreeTakesNothingInAnother) {
  write("inner/.leasehold.toml", "");
  ASSERT_EQ(edit("s1", "inner/b"), "");
  ASSERT_EQ(edit("s2", "c"), "");
  EXPECT_NE(shell("s2", "echo x > a; echo x > c; echo y > inner/b"), "");
  EXPECT_EQ(holders("/a"), "");
  EXPECT_EQ(holders("/c"), "claude-code@s2 ") << "it had that before";
}

TEST_F(HookTest, ALinkOrATreeBesideAFileDoesNotHideIt) {
  const TempFolder elsewhere;
  std::filesystem::create_symlink(elsewhere.path() + "/t", root() + "/l");
  write("clone/.leasehold.toml", "");
  write("inner/.leasehold.toml", "");
  ASSERT_EQ(edit("s1", "a"), "");
  ASSERT_EQ(edit("s1", "inner/b"), "");

  EXPECT_TRUE(mentions(shell("s2", "echo x > l; echo x > a"), "a is leased by"));
  EXPECT_TRUE(mentions(shell("s3", "rm -rf clone a"), "a is leased by"));
  EXPECT_TRUE(mentions(shell("s4", "touch c; rm -rf inner"), "b is leased by"));
  EXPECT_TRUE(mentions(patch("s5", "la"), "a is leased by"));
}

TEST_F(HookTest, NamesThatAreNotUtf8ArePassedOver) {
  write("a", "");
  write("bad\xff", "");
  EXPECT_EQ(shell("s1", "rm *"), "");
  EXPECT_EQ(shell("s1", R"(mv $'bad\\xff' good)"), "");
  EXPECT_EQ(holders("/good"), "claude-code@s1 ");
  std::filesystem::create_symlink("bad\xff", root() + "/l");
  EXPECT_EQ(shell("s1", "echo x > l"), "");

  EXPECT_TRUE(mentions(shell("s2", "rm *"), "a is leased by")) << "what has other names is asked for";
  std::filesystem::create_symlink("a", root() + "/\xfe");
  EXPECT_TRUE(mentions(shell("s3", R"(echo x > $'\\xfe')"), "a is leased by"));
}

TEST_F(HookTest, AFolderThatGoesTakesTheTreesInItAlong) {
  write("d/trees/inner/.leasehold.toml", "");
  ASSERT_EQ(edit("s1", "d/trees/inner/b"), "");

  EXPECT_TRUE(mentions(shell("s2", "rm -rf d"), "b is leased by"));
  EXPECT_TRUE(mentions(shell("s3", "mv d/trees x"), "b is leased by"));
  EXPECT_TRUE(mentions(shell("s4", "cd d && rm -rf ../d"), "b is leased by"));
  EXPECT_EQ(shell("s1", "rm -rf d"), "") << "its own";
  EXPECT_EQ(shell("s5", "git pull; chmod -R a+r d; find d -name '*.o' -exec rm -rf {} +"), "")
      << "these leave it there";
  std::filesystem::create_directory_symlink("d", root() + "/l");
  EXPECT_EQ(shell("s5", "rm -rf l"), "") << "only the link goes";
}

TEST_F(HookTest, FromATreeInsideTheOneAroundItGoesWithItsFiles) {
  std::filesystem::create_directories(root() + "/trees/w");
  ASSERT_EQ(std::system(("cd " + root() +
                         " && git init -q . && git -c user.name=a -c user.email=b commit -q "
                         "--allow-empty -m x && git worktree add -q trees/w && touch trees/w/.leasehold.toml")
                            .c_str()),
            0);
  ASSERT_EQ(edit("s1", "a"), "");

  EXPECT_TRUE(mentions(shell("s2", "rm -rf " + root(), "/trees/w"), "a is leased by"));
  EXPECT_TRUE(mentions(shell("s3", "rm -rf ../..", "/trees/w"), "a is leased by"));
  EXPECT_EQ(shell("s4", "rm -rf ../w", "/trees/w"), "");
}

TEST_F(HookTest, WhatACommandLineDoesUnseenGoesOn) {
  EXPECT_EQ(edit("s1", "a"), "");
  EXPECT_EQ(shell("s2", "python3 -c 'open(1)'"), "");
  EXPECT_EQ(shell("s2", "echo 'unclosed"), "");
  EXPECT_NE(shell("s2", "./script && rm a"), "") << "but what is seen is seen";
}

TEST_F(HookTest, AWholeFolderIsLookedAtAndNotTaken) {
  write("d/a.md", "");
  EXPECT_EQ(shell("s1", "rm -rf d"), "");
  EXPECT_EQ(shell("s1", "git checkout other"), "");
  EXPECT_EQ(holders("/d"), "");

  EXPECT_EQ(edit("s1", "d/a.md"), "");

  EXPECT_EQ(shell("s1", "rm -rf d"), "");
  EXPECT_TRUE(mentions(shell("s2", "rm -rf d"), "d/a.md is leased"));
  EXPECT_TRUE(mentions(shell("s3", "git stash"), "d/a.md is leased"));
  EXPECT_TRUE(mentions(shell("s4", "rm -rf .."), "d/a.md is leased")) << "what is around the workspace";
  EXPECT_EQ(shell("s5", "find d -name '*.txt' -delete"), "");
  EXPECT_EQ(shell("s5", "find . -type d -name target -exec rm -rf {} +"), "");
  EXPECT_TRUE(mentions(shell("s6", "find . -type d -name d -exec rm -rf {} +"), "d/a.md is leased"));
  EXPECT_TRUE(mentions(shell("s5", "find d -name '*.md' -delete"), "d/a.md is leased"));
}

TEST_F(HookTest, AWholeWorkspaceHasAName) {
  write("d/a", "");
  const auto workspace = open();
  ASSERT_TRUE(workspace->client()->acquire(
      {.caller = {.holder = {.owner = {"ann", "s1"}}}, .paths = {{.path = "/", .subtree = true}}}));

  const std::string denied = shell("s2", "git stash");

  EXPECT_TRUE(mentions(denied, "the whole workspace is leased by ann (session s1) for")) << denied;
  EXPECT_TRUE(mentions(denied, "lease acquire --subtree . --wait 5m")) << denied;
}

TEST_F(HookTest, AWholeFolderIsNoWayAroundADenial) {
  write("d/a", "");
  ASSERT_EQ(edit("s1", "d/a"), "");
  ASSERT_NE(edit("s2", "d/a"), "");
  open()->client()->release({.caller = {.holder = {.owner = {"claude-code", "s1"}}}, .which = {.all = true}});
  ASSERT_EQ(holders("/d/a"), "");

  for (const char* command :
       {"rm -rf d", "mv d e", "git checkout .", "find . -name a -delete", "touch f{1..60} d/a"})
    EXPECT_TRUE(mentions(shell("s2", command), "try this write again once")) << command;
  EXPECT_EQ(shell("s2", "find d -name b -delete; rm -rf e"), "") << "it is not among these";
  EXPECT_EQ(shell("s3", "rm -rf d"), "") << "another one's denial";

  tell("s2", "SessionEnd");
  EXPECT_EQ(shell("s2", "rm -rf d"), "") << "a new session";
  EXPECT_EQ(holders("/d/a"), "");
}

TEST_F(HookTest, AFolderThatWasDeniedIsStillInTheWayOfItsFiles) {
  write("d/a.x", "");
  ASSERT_TRUE(open()->client()->acquire(
      {.caller = {.holder = {.owner = {"ann", "s1"}}}, .paths = {{.path = "/d", .subtree = true}}}));
  ASSERT_TRUE(mentions(shell("s2", "rm -rf d"), "d is leased by ann"));

  EXPECT_TRUE(mentions(shell("s2", "find . -name '*.x' -delete"), "d is leased by ann"));
}

TEST_F(HookTest, WhatWasToBeLeftAloneStaysSoInItsFolder) {
  write("d/a", "");
  write(".leasehold.toml", "gate_retry = \"1ms\"\n");
  ASSERT_EQ(edit("s1", "d/a"), "");
  ASSERT_NE(edit("s2", "d/a"), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_TRUE(mentions(edit("s2", "d/a"), "Stop this work"));
  const auto workspace = open();
  workspace->client()->release(
      {.caller = {.holder = {.owner = {"claude-code", "s1"}}}, .which = {.all = true}});
  EXPECT_TRUE(mentions(shell("s2", "rm -rf d"), "Stop this work"));

  const auto blockers = workspace->client()->blockers();
  ASSERT_TRUE(blockers && blockers->blockers.size() == 1);
  const std::string id = blockers->blockers[0].contention.id;
  ASSERT_TRUE(workspace->client()->instruct({id, Instruction::abandon, "olga", "hands off"}));
  EXPECT_TRUE(mentions(shell("s2", "mv d e"), "You were told to leave d/a alone"));
}

TEST_F(HookTest, WhatGitDoesNotTrackIsNotInTheWayOfWhatItTracks) {
  write("d/tracked", "");
  ASSERT_EQ(std::system(("cd " + root() + " && git init -q && git add d").c_str()), 0);
  write("d/loose", "");
  write("out/log", "");
  ASSERT_EQ(edit("s1", "d/loose"), "");
  ASSERT_EQ(edit("s1", "out/log"), "");

  for (const char* command : {"git checkout .", "git restore d", "git stash", "git reset --hard",
                              "git rm -rq .", "git checkout -- d out", "cd d && git rm -r ."})
    EXPECT_EQ(shell("s2", command), "") << command;
  EXPECT_NE(shell("s2", "git stash -u"), "");
  EXPECT_NE(shell("s3", "git reset --hard other"), "") << "that may have a file of that name";

  ASSERT_EQ(edit("s1", "d/tracked"), "");
  int session = 4;
  for (const char* command :
       {"git checkout .", "git restore d", "git stash", "git reset --hard", "git rm -rq ."})
    EXPECT_TRUE(mentions(shell(fmt::format("s{}", session++), command), "d/tracked is leased")) << command;
}

TEST_F(HookTest, ManyFilesAreLookedAtAndNotTaken) {
  EXPECT_EQ(shell("s1", "touch f{1..200}"), "");
  EXPECT_EQ(holders("/f7"), "");
  EXPECT_EQ(edit("s1", "f7"), "");
  EXPECT_TRUE(mentions(shell("s2", "touch f{1..200}"), "f7 is leased"));
}

TEST_F(HookTest, WhatACommandDidUnseenToAnothersFileIsNoticed) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(shell("s2", "make"), "");
  EXPECT_EQ(after_shell("s2", "make"), "") << "nothing happened";

  ASSERT_EQ(shell("s2", "make"), "");
  write("a", "three");
  const std::string remark = after_shell("s2", "make");

  EXPECT_TRUE(mentions(remark, R"("additionalContext":"Changed while your command ran)")) << remark;
  EXPECT_TRUE(mentions(remark, "a (leased by claude-code (session s1))")) << remark;
  const auto events = open()->client()->history({.path = "/a"});
  ASSERT_TRUE(events);
  EXPECT_EQ(events->back().owner.session_id, "s2");
  EXPECT_TRUE(mentions(events->back().reason, "changed while a command of its ran ("))
      << events->back().reason;
  EXPECT_TRUE(mentions(events->back().reason, "); held by claude-code")) << events->back().reason;

  const std::string told = edit("s1", "a");
  EXPECT_TRUE(mentions(told, "a was changed by claude-code")) << "its holder learns it, too: " << told;
  EXPECT_EQ(edit("s1", "a"), "") << "once";
}

TEST_F(HookTest, WhatACommandDidIsNoticedWhereverItsShellWentMeanwhile) {
  const TempFolder elsewhere;
  const StagedAgent gone = {
      .host = HookHost::claude_code, .session = "s2", .root = elsewhere.path(), .subagent = {}};
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(shell("s2", "make && cd " + elsewhere.path()), "");
  write("a", "three");
  EXPECT_TRUE(
      mentions(call(report_after_command(gone, "make")).output, "a (leased by claude-code (session s1))"));

  // It is still there when the next one begins, and the hook was started there, too.
  const Variables known = [&](const char* name) -> const char* {
    return std::string_view(name) == "CLAUDE_PROJECT_DIR" ? folder.path().c_str() : nullptr;
  };
  const auto call_there = [&](const std::string& report) {
    return HookCall(HookHost::claude_code, report, elsewhere.path(), known).answer().output;
  };
  ASSERT_EQ(call_there(report_of_command(gone, root() + "/script")), "");
  write("a", "four");
  EXPECT_TRUE(mentions(call_there(report_after_command(gone, root() + "/script")),
                       "a (leased by claude-code (session s1))"));
}

TEST_F(HookTest, GoingRoundADenialIsRecordedEachTime) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_NE(edit("s2", "a"), "");
  const auto recorded = [&] {
    const auto events = open()->client()->history({.path = "/a"});
    return std::count_if(events->begin(), events->end(), [](const Event& event) {
      return mentions(event.reason, "changed while a command of its ran");
    });
  };
  for (int times = 1; times <= 2; ++times) {
    ASSERT_EQ(shell("s2", "make"), "");
    write("a", "three" + std::to_string(times));
    EXPECT_NE(after_shell("s2", "make"), "");
    EXPECT_EQ(recorded(), times);
  }
}

TEST_F(HookTest, WhoOnlyRanACommandMeanwhileIsDeniedNothingForIt) {
  const Holder ann = {.owner = {"ann", "editor"}};
  write("a", "one");
  ASSERT_TRUE(open()->client()->acquire({.caller = {.holder = ann}, .paths = {{.path = "/a"}}}));
  ASSERT_EQ(shell("s2", "npm test"), "");
  write("a", "two, by its holder");
  EXPECT_TRUE(mentions(after_shell("s2", "npm test"), "a (leased by ann (session editor))"));

  EXPECT_TRUE(open()->client()->blockers()->blockers.empty());
  ASSERT_TRUE(open()->client()->release({.caller = {.holder = ann}, .which = {.paths = {"/a"}}}));
  EXPECT_EQ(edit("s2", "a"), "") << "its first write of it ever";
}

TEST_F(HookTest, CommandsThatOverlapOrEndUnreportedAreLookedAt) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(shell("s2", "make"), "");
  write("a", "three");
  ASSERT_EQ(shell("s2", "ls"), "");
  EXPECT_TRUE(mentions(after_shell("s2", "ls"), "a (leased by claude-code (session s1))"));
}

// What happens from now on has a later time than what happened. Kernels stamp files by a finer clock than the
// one that says when a command began, which may lag behind by more than its step.
void pass_a_moment() {
  const FileTime then(std::chrono::system_clock::now().time_since_epoch());
  while (file_clock_now() <= then) std::this_thread::yield();
}

TEST_F(HookTest, ACommandThatNeverEndedIsNotTakenToRun) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  // Its user refuses the first one, and goes on.
  for (const std::string event : {"Stop", "UserPromptSubmit", "SessionStart"}) {
    ASSERT_EQ(shell_call("s2", "PreToolUse", "c1"), "");
    ASSERT_EQ(tell("s2", event), "");
    write("a", "by its holder's editor, before " + event);
    pass_a_moment();
    ASSERT_EQ(shell_call("s2", "PreToolUse", "c2"), "");
    EXPECT_EQ(shell_call("s2", "PostToolUse", "c2"), "") << event;
    write("a", "and after " + event);
    EXPECT_EQ(shell_call("s2", "PostToolUse", "c1"), "") << event;
  }
}

TEST_F(HookTest, TheLookBeginsWithTheCommandThatEnded) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(shell_call("s2", "PreToolUse", "c1"), "");
  write("a", "three");
  pass_a_moment();
  ASSERT_EQ(shell_call("s2", "PreToolUse", "c2"), "");
  EXPECT_EQ(shell_call("s2", "PostToolUse", "c2"), "");
  EXPECT_TRUE(mentions(shell_call("s2", "PostToolUse", "c1"), "a (leased by claude-code (session s1))"));
}

TEST_F(HookTest, WhoseCommandFailedUnreportedIsGuardedAgain) {
  write("a", "one");
  ASSERT_EQ(patch("s1", "a"), "");
  write("a", "two");
  ASSERT_EQ(
      call(report_after_write({.host = HookHost::codex, .session = "s1", .root = root(), .subagent = {}},
                              root() + "/a"),
           HookHost::codex)
          .output,
      "");
  ASSERT_EQ(shell_call("s1", "PreToolUse", "failed", HookHost::codex), "");
  ASSERT_EQ(shell_call("s1", "PreToolUse", "c2", HookHost::codex), "");
  ASSERT_EQ(shell_call("s1", "PostToolUse", "c2", HookHost::codex), "");
  ASSERT_EQ(shell_call("s2", "PreToolUse", "c1"), "");
  write("a", "three");
  EXPECT_TRUE(mentions(shell_call("s2", "PostToolUse", "c1"), "a (leased by codex (session s1))"));
}

TEST_F(HookTest, WhatItsHolderMayHaveDoneIsNobodyElses) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(shell("s1", "make"), "");
  ASSERT_EQ(shell("s2", "ls"), "");
  write("a", "three");
  EXPECT_EQ(after_shell("s2", "ls"), "");
}

TEST_F(HookTest, AFileThatIsGoneWithItsFolderIsNoticed) {
  write("src/a", "one");
  ASSERT_EQ(write_as("s1", "src/a", "two"), "");
  ASSERT_EQ(shell("s2", "make"), "");
  std::filesystem::remove_all(root() + "/src");
  EXPECT_TRUE(mentions(after_shell("s2", "make"), "src/a (leased by claude-code (session s1))"));
}

TEST_F(HookTest, AFileThatWasGoneBeforeIsNoCommandsDoing) {
  write("src/a", "one");
  ASSERT_EQ(write_as("s1", "src/a", "two"), "");
  std::filesystem::remove(root() + "/src/a");  // By its user, say.

  for (const std::string session : {"s2", "s3", "s2"}) {
    ASSERT_EQ(shell(session, "make"), "");
    write("src/report", "something else changed there");
    EXPECT_EQ(after_shell(session, "make"), "") << session;
  }
  EXPECT_EQ(edit("s1", "src/a"), "") << "nobody is said to have changed it";
}

TEST_F(HookTest, AFileThatIsGoneIsToldOfOnce) {
  write("src/a", "one");
  write("src/b", "one");
  ASSERT_EQ(write_as("s1", "src/a", "two"), "");
  ASSERT_EQ(shell("s2", "make"), "");
  std::filesystem::remove(root() + "/src/a");
  EXPECT_TRUE(mentions(after_shell("s2", "make"), "src/a (leased by claude-code (session s1))"));
  ASSERT_EQ(shell("s2", "make"), "");
  std::filesystem::remove(root() + "/src/b");
  EXPECT_EQ(after_shell("s2", "make"), "");
  EXPECT_TRUE(mentions(edit("s1", "src/a"), "src/a was removed by claude-code"));

  // It is there again, and then it is not.
  ASSERT_EQ(write_as("s1", "src/a", "three"), "");
  ASSERT_EQ(shell("s2", "make"), "");
  std::filesystem::remove(root() + "/src/a");
  EXPECT_TRUE(mentions(after_shell("s2", "make"), "src/a (leased by claude-code (session s1))"));
}

TEST_F(HookTest, WhatItsHolderWroteMeanwhileIsNobodyElsesDoing) {
  write("a", "one");
  ASSERT_EQ(write_as("s1", "a", "two"), "");
  ASSERT_EQ(shell("s2", "make"), "");
  ASSERT_EQ(write_as("s1", "a", "three"), "");
  EXPECT_EQ(after_shell("s2", "make"), "");

  ASSERT_EQ(shell("s2", "make"), "");
  ASSERT_EQ(edit("s1", "a"), "");
  write("a", "four");
  EXPECT_EQ(after_shell("s2", "make"), "") << "it is just at it";
  ASSERT_EQ(shell("s1", "make"), "");
  write("a", "five");
  EXPECT_EQ(after_shell("s1", "make"), "") << "by a command of its own";
  EXPECT_EQ(edit("s1", "a"), "");
}

}  // namespace
}  // namespace leasehold
