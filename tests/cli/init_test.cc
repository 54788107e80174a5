// lease init as its users see it, and git with the hooks it installs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scene.h"

namespace leasehold {
namespace {

namespace fs = std::filesystem;

class InitCommand : public Scene {
 protected:
  std::string text(const std::string& file) const {
    std::ifstream stream(root() + "/" + file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& file, const std::string& text, bool executable = false) const {
    add(file);
    std::ofstream(root() + "/" + file, std::ios::binary) << text;
    if (executable) fs::permissions(root() + "/" + file, fs::perms(0755));
  }
  static std::string with_lease() { return fs::path(LEASE_BINARY).parent_path().string() + ":/usr/bin:/bin"; }

  // A shell's line, by an agent, with what the hooks find on PATH.
  Ran sh(const std::string& agent, const std::string& line, const std::string& path = with_lease()) const {
    std::vector<std::string> variables = environment(agent);
    variables.push_back("PATH=" + path);
    variables.insert(variables.end(), {"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
                                       "GIT_COMMITTER_NAME=Cyd", "GIT_COMMITTER_EMAIL=cyd@example.org"});
    return StartedProgram({"/bin/sh", "-c", line}, variables, root()).wait();
  }
};

TEST_F(InitCommand, ShowsWhatItWritesAndWritesItOnce) {
  const Ran dry = as("x", {"init", "--agents", "claude-code,codex", "--dry-run"});
  EXPECT_EQ(dry.exit, 0) << dry.err;
  EXPECT_TRUE(contains(dry.out, "+++ .claude/settings.json")) << dry.out;
  EXPECT_TRUE(contains(dry.out, "+++ .codex/hooks.json")) << dry.out;
  EXPECT_FALSE(fs::exists(root() + "/.claude"));

  const Ran wet = as("x", {"init", "--agents", "claude-code,codex"});
  EXPECT_EQ(wet.exit, 0);
  EXPECT_TRUE(dry.out.starts_with(wet.out)) << "what was shown is what was done";
  EXPECT_TRUE(contains(wet.err, "/hooks")) << "Codex has to be told to trust them";

  const std::string once = text(".claude/settings.json");
  EXPECT_EQ(as("x", {"init", "--agents", "claude-code,codex"}).out, "Everything is in place already.\n");
  EXPECT_EQ(text(".claude/settings.json"), once);

  EXPECT_EQ(as("x", {"init", "--uninstall"}).exit, 0);
  EXPECT_FALSE(fs::exists(root() + "/.claude"));
  EXPECT_FALSE(fs::exists(root() + "/.codex"));
  EXPECT_TRUE(fs::exists(root() + "/.leasehold.toml")) << "that one was not made by init";
}

TEST_F(InitCommand, IsTheSameInJson) {
  const auto answer = json("x", {"init", "--agents", "codex", "--dry-run"});
  EXPECT_EQ(answer.at("dry_run"), true);
  EXPECT_EQ(answer.at("agents").at(0), "codex");
  EXPECT_EQ(answer.at("changes").at(0).at("path"), ".codex/hooks.json");
  EXPECT_EQ(answer.at("changes").at(0).at("action"), "create");
}

TEST_F(InitCommand, RefusesWhatItDoesNotUnderstandAndDoesTheRest) {
  write(".claude/settings.json", "{\n  \"a\": 1,\n}\n");
  const Ran none = as("x", {"init", "--agents", "claude-code"});
  EXPECT_EQ(none.exit, 78);
  EXPECT_TRUE(contains(none.err, "settings.json:3: ")) << none.err;
  EXPECT_TRUE(contains(none.err, "Nothing was changed.")) << none.err;

  const Ran rest = as("x", {"init", "--agents", "codex,claude-code"});
  EXPECT_EQ(rest.exit, 78);
  EXPECT_TRUE(contains(rest.err, "claude-code: ") && contains(rest.err, "settings.json:3: ")) << rest.err;
  EXPECT_TRUE(contains(rest.err, "Nothing was changed for it.")) << rest.err;
  EXPECT_TRUE(contains(text(".codex/hooks.json"), "lease hook codex"));
  EXPECT_EQ(text(".claude/settings.json"), "{\n  \"a\": 1,\n}\n");
  const auto answer = json("x", {"init", "--agents", "codex,claude-code"});
  EXPECT_EQ(answer.at("refused").at(0).at("part"), "claude-code");
  write(".gemini/settings.json", "no JSON");
  const Ran left_out = as("x", {"init", "--agents", "codex,gemini"});
  EXPECT_TRUE(contains(left_out.err, "Codex runs")) << left_out.err;
  EXPECT_FALSE(contains(left_out.err, "Gemini CLI runs")) << "it does not ask: " << left_out.err;
  EXPECT_EQ(as("x", {"init", "--agents", "emacs"}).exit, 64);
  EXPECT_EQ(as("x", {"init", "--agents", "codex", "--git-hooks"}).exit, 66) << "there is no repository";
}

TEST_F(InitCommand, AFolderThatWasNotManagedIsManagedThen) {
  fs::remove(root() + "/.leasehold.toml");
  EXPECT_EQ(as("x", {"init", "--agents", "claude-code"}).exit, 0);
  EXPECT_EQ(as("ann", {"gate", "src/a.ts"}).exit, 0);
  EXPECT_NE(as("bob", {"gate", "src/a.ts"}).exit, 0);
  EXPECT_EQ(as("x", {"init", "--uninstall"}).exit, 0);
  EXPECT_FALSE(fs::exists(root() + "/.leasehold.toml"));
}

TEST_F(InitCommand, DoctorShowsTheRefusedWrite) {
  ASSERT_EQ(as("x", {"init", "--agents", "claude-code"}).exit, 0);
  const Ran doctor = sh("x", "lease doctor");
  EXPECT_EQ(doctor.exit, 0) << doctor.out;
  EXPECT_TRUE(contains(doctor.out, "the second was refused: scratch-file")) << doctor.out;
  EXPECT_TRUE(contains(doctor.out, "is leased by claude-code")) << doctor.out;
  EXPECT_EQ(as("x", {"ls"}).out, "") << "nothing stays behind";
  EXPECT_FALSE(contains(as("x", {"history"}).out, "scratch-file")) << "nor in history";

  const Ran without = as("x", {"doctor"});  // Where PATH does not lead to lease.
  EXPECT_EQ(without.exit, 74);
  EXPECT_TRUE(contains(without.out, "not on PATH")) << without.out;
}

// It is the command of the host's own file that is run.
TEST_F(InitCommand, DoctorFindsALeaseThatDoesNotAnswer) {
  ASSERT_EQ(as("x", {"init", "--agents", "claude-code,codex"}).exit, 0);
  const auto doctor_with = [&](const std::string& script) {
    write("bin/lease", "#!/bin/sh\n" + script + "\n", true);
    return sh("x", std::string(LEASE_BINARY) + " doctor", root() + "/bin:/usr/bin:/bin");
  };

  const Ran silent = doctor_with("exit 0");
  EXPECT_EQ(silent.exit, 74);
  EXPECT_TRUE(contains(silent.out, "both may write (lease hook claude-code)")) << silent.out;
  EXPECT_TRUE(contains(silent.out, "The lease on PATH is " + root() + "/bin/lease")) << silent.out;

  const Ran broken = doctor_with("echo no such option >&2; exit 64");
  EXPECT_TRUE(contains(broken.out, "its hook fails with status 64: \"no such option\"")) << broken.out;
  EXPECT_TRUE(contains(broken.out, "nobody can write: no such option"))
      << "as Codex takes it: " << broken.out;

  write(
      ".claude/settings.json",
      R"({"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"lease hook claude-code"}]}]}})");
  const Ran deaf = sh("x", "lease doctor");
  EXPECT_TRUE(contains(deaf.out, "its hooks do not ask before a write")) << deaf.out;
}

TEST_F(InitCommand, DoctorRehearsesEveryHost) {
  ASSERT_EQ(
      as("x", {"init", "--agents", "claude-code,codex,gemini,copilot,cursor,opencode,windsurf,cline"}).exit,
      0);
  const Ran doctor = sh("x", "lease doctor");
  EXPECT_EQ(doctor.exit, 0) << doctor.out;
  for (const std::string host :
       {"claude-code", "codex", "gemini", "copilot", "cursor", "opencode", "windsurf", "cline"}) {
    EXPECT_TRUE(contains(doctor.out, "is leased by " + host)) << host << doctor.out;
  }
  EXPECT_EQ(as("x", {"ls"}).out, "") << "nothing stays behind";
}

TEST_F(InitCommand, DoctorMakesNoStoreHere) {
  for (const std::string host : {"claude-code", "windsurf"}) {
    ASSERT_EQ(sh("x", "rm -rf new && mkdir new && cd new && git init -q && lease init --agents " + host).exit,
              0);
    const Ran doctor = sh("x", "cd new && unset LEASE_STORE && lease doctor");
    EXPECT_TRUE(contains(doctor.out, "is leased by " + host)) << doctor.out;
    EXPECT_FALSE(fs::exists(root() + "/new/.git/leasehold")) << host;
  }
}

TEST_F(InitCommand, DoctorSaysWhatKeepsAHostFromAsking) {
  write(".leasehold.toml", "gate_fail_open = true\n");
  ASSERT_EQ(as("x", {"init", "--agents", "codex,gemini,copilot"}).exit, 0);
  EXPECT_TRUE(contains(sh("x", "lease doctor").out, "go through (gate_fail_open")) << "it is told";

  write(".leasehold.toml", "");
  const std::string drifted = sh("x", "lease doctor").out;
  EXPECT_TRUE(
      contains(drifted, "not those of this version and these settings. Run: lease init --agents gemini"))
      << drifted;

  ASSERT_EQ(as("x", {"init", "--agents", "codex,gemini,copilot"}).exit, 0);
  write(".gemini/hooks.json", R"({"hooks":{"BeforeTool":[{"command":"lease hook gemini"}]}})");
  const std::string untrusted = sh("x", "lease doctor").out;
  EXPECT_TRUE(contains(untrusted, "it does not read .gemini/hooks.json")) << untrusted;
  EXPECT_TRUE(contains(untrusted, "say /hooks")) << untrusted;
  EXPECT_FALSE(contains(untrusted, "these settings")) << untrusted;

  write(".codex/config.toml", fmt::format("[hooks.state.\"{}/.codex/hooks.json:pre_tool_use:0:0\"]\n"
                                          "trusted_hash = \"x\"\n",
                                          root()));
  write(".copilot/config.json", fmt::format(R"({{"trustedFolders":["{}"]}})", root()));
  const std::string trusted = sh("x", "lease doctor").out;
  EXPECT_FALSE(contains(trusted, "allowed to run them")) << trusted;
}

TEST_F(InitCommand, DoctorNamesTheCommandForAHostThatDoesNotAsk) {
  ASSERT_EQ(as("x", {"init", "--agents", "claude-code"}).exit, 0);
  for (const std::string host : {"codex", "gemini", "cursor", "windsurf"}) {
    fs::create_directories(root() + "/." + host);
    const std::string wires = "lease init --agents " + host;
    const std::string before = sh("x", "lease doctor").out;
    EXPECT_TRUE(contains(before, "it is installed and does not ask before it writes. Run: " + wires))
        << before;

    ASSERT_EQ(sh("x", wires).exit, 0);

    const std::string after = sh("x", "lease doctor").out;
    EXPECT_FALSE(contains(after, "does not ask before it writes")) << after;
    EXPECT_TRUE(contains(after, "is leased by " + host)) << after;
  }
}

TEST_F(InitCommand, DoctorSeesHooksThatAreSwitchedOff) {
  ASSERT_EQ(as("x", {"init", "--agents", "claude-code"}).exit, 0);
  write(".claude/settings.local.json", R"({"disableAllHooks": true})");
  const std::string off = sh("x", "lease doctor").out;
  EXPECT_TRUE(
      contains(off, fmt::format("odd   claude-code  all its hooks are switched off (disableAllHooks in "
                                "{}/.claude/settings.local.json). Take that out.",
                                root())))
      << off;
  fs::remove(root() + "/.claude/settings.local.json");
  EXPECT_FALSE(contains(sh("x", "lease doctor").out, "switched off"));
}

TEST_F(InitCommand, DoctorSaysTheSameInJson) {
  ASSERT_EQ(as("x", {"init", "--agents", "codex"}).exit, 0);
  const auto answer = boost::json::parse(sh("x", "lease doctor --json").out);
  EXPECT_EQ(answer.at("healthy"), true);
  std::string told;
  for (const auto& finding : answer.at("findings").as_array()) {
    if (finding.at("what") != "codex") continue;
    told += std::string(finding.at("health").as_string()) + ": " +
            std::string(finding.at("text").as_string()) + "\n";
  }
  EXPECT_TRUE(contains(told, "good: it asks before it writes")) << told;
  EXPECT_TRUE(contains(told, "odd: it seems not to be allowed to run them")) << told;
  EXPECT_TRUE(contains(told, "say /hooks")) << told;
}

class InitGitHooks : public InitCommand {
 protected:
  InitGitHooks() {
    EXPECT_EQ(
        sh("x", "git init -q -b main . && rm -rf .git/hooks && git add docs && git commit -q -m first").exit,
        0);
  }
  void install() const {
    const Ran ran = as("x", {"init", "--agents", "", "--git-hooks"});
    EXPECT_EQ(ran.exit, 0) << ran.err;
  }
  Ran commit(const std::string& agent, const std::string& before = {},
             const std::string& path = with_lease()) const {
    return sh(agent, before + " echo x >> docs/x.md && git add docs && git commit -q -m more", path);
  }
};

TEST_F(InitGitHooks, ACommitOfAnothersFileIsRefusedAndOnesOwnReleased) {
  install();
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
  const Ran refused = commit("bob");
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(contains(refused.err, "docs/x.md is held by ann")) << refused.err;

  const Ran done = commit("ann");
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(as("x", {"ls"}).out, "") << "the commit gave it back";
  EXPECT_EQ(sh("x", "git log -1 --format='%an %cn'").out, "Ann Cyd\n");
}

// Who believes that agents are guarded must hear that none is.
TEST_F(InitGitHooks, AloneTheyGuardNoAgentAndThatIsSaid) {
  const Ran ran = sh("x", "lease init --git-hooks", with_lease());
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(contains(ran.err, "No agent was found.")) << ran.err;
  const std::string doctor = sh("x", "lease doctor", with_lease()).out;
  EXPECT_TRUE(contains(doctor, "none of this project asks before it writes")) << doctor;
  EXPECT_TRUE(contains(doctor, "commits of files that others hold are refused")) << doctor;
}

// LEASE_AGENT and LEASE_SESSION, set around an agent, are in the environment of its hooks and of its shell.
TEST_F(InitGitHooks, AnAgentsCommitIsItsOwnWhateverIsSetAroundIt) {
  install();
  const auto edit = [&](const std::string& host, const std::string& session, const std::string& tool,
                        const std::string& input) {
    return as("ann", {"hook", host},
              fmt::format(R"({{"session_id":"{}","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"{}",
                             "tool_input":{}}})",
                          session, root(), tool, input))
        .out;
  };
  const std::string file = R"({"file_path":"docs/x.md"})";
  const std::string patch = R"({"command":"*** Begin Patch\n*** Update File: docs/x.md\n*** End Patch"})";
  const std::string claude = "export CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=";
  const std::string codex = "export CODEX_THREAD_ID=";

  ASSERT_EQ(edit("claude-code", "s1", "Write", file), "");
  EXPECT_NE(edit("claude-code", "s2", "Write", file), "") << "two agents are two, whatever both inherited";
  const Ran refused = commit("ann", claude + "s2;");
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(contains(refused.err, "docs/x.md is held by claude-code")) << refused.err;
  EXPECT_EQ(commit("ann").exit, 1) << "who is no agent is not this one";

  const Ran own = commit("ann", claude + "s1;");
  EXPECT_EQ(own.exit, 0) << own.err;
  EXPECT_EQ(as("x", {"ls"}).out, "") << "and gave it back";

  ASSERT_EQ(edit("codex", "t1", "apply_patch", patch), "");
  EXPECT_EQ(commit("ann", codex + "t2;").exit, 1);
  EXPECT_EQ(commit("ann", codex + "t1;").exit, 0);

  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
  EXPECT_EQ(commit("ann", claude + "s1;").exit, 0) << "what its shell took by those names is its own, too";
  EXPECT_EQ(as("x", {"ls"}).out, "");
}

// Some agents do not tell their shells which session they are: then it is what their process has.
TEST_F(InitGitHooks, AnAgentThatDoesNotTellItsSessionCommitsWhatItHas) {
  install();
  fs::copy("/bin/bash", root() + "/gemini");
  write("payload", fmt::format(R"({{"session_id":"g1","cwd":"{}","hook_event_name":"BeforeTool",
                                    "tool_name":"replace","tool_input":{{"file_path":"docs/x.md"}}}})",
                               root()));
  const std::string commit_it =
      "export GEMINI_CLI=1; echo x >> docs/x.md; git add docs; git commit -q -m more";
  write("commits", commit_it);
  write("holds-and-commits", "lease hook gemini < payload; " + commit_it);
  std::vector<std::string> variables = environment("ann");
  variables.insert(variables.end(), {"PATH=" + with_lease(), "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=a@b.c",
                                     "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=a@b.c"});

  const Ran own = StartedProgram({root() + "/gemini", "holds-and-commits"}, variables, root()).wait();

  EXPECT_EQ(own.exit, 0) << own.err;
  EXPECT_EQ(as("x", {"ls"}).out, "") << "and gave it back";

  write("holds", "lease hook gemini < payload; touch done; while true; do sleep 1; done");
  StartedProgram holder({root() + "/gemini", "holds"}, variables, root());
  ASSERT_TRUE(eventually([&] { return fs::exists(root() + "/done"); }));
  const Ran other = StartedProgram({root() + "/gemini", "commits"}, variables, root()).wait();
  EXPECT_EQ(other.exit, 1) << "another one's";
  EXPECT_TRUE(contains(other.err, "docs/x.md is held by gemini")) << other.err;
}

TEST_F(InitGitHooks, HooksThatWereThereStillDecide) {
  for (const char* const hook : {"#!/bin/sh\necho mine >> ran\ntest ! -e forbidden\n",
                                 "#!/usr/bin/env python3\nimport os, sys\nopen('ran', "
                                 "'a').write('mine\\n')\nsys.exit(os.path.exists('forbidden'))\n"}) {
    write(".git/hooks/pre-commit", hook, true);
    install();
    ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
    EXPECT_EQ(commit("bob").exit, 1);
    EXPECT_EQ(commit("ann").exit, 0);
    EXPECT_EQ(text("ran"), "mine\n") << hook;
    EXPECT_EQ(commit("ann", "touch forbidden &&").exit, 1) << "its word counts";
    EXPECT_EQ(as("x", {"init", "--uninstall"}).exit, 0);
    EXPECT_EQ(text(".git/hooks/pre-commit"), hook);
    fs::remove(root() + "/ran");
    fs::remove(root() + "/forbidden");
    ASSERT_EQ(as("ann", {"release", "docs/x.md"}).exit, 0);
  }
}

// Git asks no pre-commit for these.
TEST_F(InitGitHooks, AMergeThatTouchesAnothersFileIsRefused) {
  install();
  EXPECT_EQ(sh("x",
               "git checkout -q -b side && echo y >> docs/x.md && git commit -q -a -m side && "
               "git checkout -q main && echo z > new && git add new && git commit -q -m new")
                .exit,
            0);
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);

  const Ran refused = sh("bob", "git merge -q --no-edit side");

  EXPECT_NE(refused.exit, 0);
  EXPECT_TRUE(contains(refused.err, "This merge touches files that others hold")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "docs/x.md is held by ann")) << refused.err;
  EXPECT_EQ(sh("x", "git log -1 --format=%s").out, "new\n");
  EXPECT_EQ(sh("bob", "git merge --abort && git merge -q --no-edit side").exit, refused.exit);
  EXPECT_EQ(sh("bob", "git merge --abort").exit, 0);
  const Ran own = sh("ann", "git merge -q --no-edit side");
  EXPECT_EQ(own.exit, 0) << own.err;
  EXPECT_EQ(as("x", {"init", "--uninstall"}).exit, 0);
  EXPECT_FALSE(fs::exists(root() + "/.git/hooks/pre-merge-commit"));
}

TEST_F(InitGitHooks, CanBeSwitchedOff) {
  install();
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
  EXPECT_EQ(commit("bob", "export LEASE_GIT_HOOKS=0;").exit, 0);
  EXPECT_EQ(commit("bob", "export LEASE_GIT_HOOKS=0;", "/usr/bin:/bin").err, "");
}

TEST_F(InitGitHooks, WithoutLeaseCommitsGoOnUnlessTheProjectSaysOtherwise) {
  install();
  const Ran done = commit("bob", {}, "/usr/bin:/bin");
  EXPECT_EQ(done.exit, 0);
  EXPECT_TRUE(contains(done.err, "lease is not installed")) << done.err;

  write(".leasehold.toml", "git_hook_required = true\n");
  const Ran refused = commit("bob", {}, "/usr/bin:/bin");
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(contains(refused.err, "git_hook_required")) << refused.err;
}

TEST_F(InitGitHooks, ACommitThatCannotBeCheckedGoesByThePolicy) {
  if (is_served()) GTEST_SKIP() << "there is no embedded store here";
  install();
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  write(".git/leasehold/leases.db", std::string(4096, 'x'));  // No database any more.
  for (const auto& entry : fs::directory_iterator(root() + "/.git/leasehold")) {
    if (entry.path().extension() != ".lock" && entry.is_regular_file())
      std::ofstream(entry.path(), std::ios::binary) << std::string(4096, 'x');
  }
  const Ran refused = commit("bob");
  EXPECT_NE(refused.exit, 0);
  EXPECT_TRUE(contains(refused.err, "--no-verify")) << refused.err;

  write(".leasehold.toml", "gate_fail_open = true\n");
  const Ran done = commit("bob");
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "not checked")) << done.err;
}

TEST_F(InitCommand, AgentsAreSetUpWhereThereIsNoGit) {
  const Ran ran = as("x", {"init", "--agents", "claude-code", "--git-hooks"});
  EXPECT_EQ(ran.exit, 66);
  EXPECT_TRUE(contains(ran.err + ran.out, "There is no git repository here")) << ran.err << ran.out;
  EXPECT_TRUE(fs::exists(root() + "/.claude/settings.json")) << ran.err << ran.out;
}

TEST_F(InitGitHooks, FoldersThatWereNotThereGoWithThem) {
  const std::string hooks = root() + "/.git/hooks";
  const auto uninstall = [&] { EXPECT_EQ(as("x", {"init", "--uninstall"}).exit, 0); };
  install();
  EXPECT_TRUE(fs::exists(hooks + "/pre-commit"));
  uninstall();
  EXPECT_FALSE(fs::exists(hooks));
  fs::create_directory(hooks);
  install();
  uninstall();
  EXPECT_TRUE(fs::exists(hooks)) << "that one was there, and empty";
  ASSERT_EQ(sh("x", "git config core.hooksPath dev/hk").exit, 0);
  install();
  EXPECT_TRUE(fs::exists(root() + "/dev/hk/pre-commit"));
  uninstall();
  EXPECT_FALSE(fs::exists(root() + "/dev"));
}

TEST_F(InitGitHooks, WorkTreesHooksPathsAndRebasesGoAlong) {
  ASSERT_EQ(sh("x", "git config core.hooksPath .githooks && git worktree add -q tree -b side").exit, 0);
  install();
  EXPECT_TRUE(fs::exists(root() + "/.githooks/pre-commit"));
  ASSERT_EQ(
      sh("ann", "cp -r .githooks tree/ && cd tree && touch .leasehold.toml && lease acquire docs/x.md").exit,
      0);
  const Ran refused = sh("bob", "cd tree && echo y >> docs/x.md && git commit -q -a -m side");
  EXPECT_EQ(refused.exit, 1) << refused.err;
  EXPECT_TRUE(contains(refused.err, "is held by ann")) << refused.err;
  EXPECT_EQ(sh("ann", "cd tree && git commit -q -a -m side").exit, 0);
  EXPECT_EQ(commit("bob", "echo z > new && git add new &&").exit, 0)
      << "each work tree has leases of its own";
  EXPECT_EQ(
      sh("bob", "git checkout -q -- . && git rebase -q -X theirs side && git merge -q --no-ff -m m side")
          .exit,
      0);
}

}  // namespace
}  // namespace leasehold
