// The gate from outside: as a command, as an agent's hook, and as git's.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "scene.h"
#include "support/redis_server.h"
#include "support/temp_folder.h"

namespace leasehold {
namespace {

constexpr int kLater = 75;
constexpr int kHalted = 80;

class Gate : public Scene {
 protected:
  // A short interval, so that nobody waits for three minutes.
  Gate() { configure("gate_retry = \"1s\"\n"); }

  std::string blocker() const {
    return std::string(json("olga", {"blockers"}).at("blockers").at(0).at("id").as_string());
  }

  std::string edit(const std::string& session, const std::string& file) const {
    const Ran ran = as("nobody", {"hook", "claude-code"},
                       fmt::format(R"({{"session_id":"{}","cwd":"{}","hook_event_name":"PreToolUse",
                                      "tool_name":"Edit","tool_input":{{"file_path":"{}/{}"}}}})",
                                   session, root(), root(), file));
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(ran.err, "");
    return ran.out;
  }
};

TEST_F(Gate, IsSilentForWhoMayWrite) {
  for (int i = 0; i < 2; ++i) {
    const Ran ran = as("ann", {"gate", "src/a.ts"});
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(ran.out + ran.err, "");
  }
  EXPECT_EQ(as("ann", {"gate", "/etc/passwd"}).exit, 0) << "what is outside is let through";
}

TEST_F(Gate, AsksTheWorkspaceThatAFileLiesIn) {
  if (is_served()) GTEST_SKIP() << "one server is asked for all";
  const std::string inner = root() + "/vendor/lib";
  std::filesystem::create_directories(inner + "/.git");
  std::ofstream(inner + "/.git/HEAD") << "ref: refs/heads/main\n";
  ASSERT_EQ(as("ann", {"-C", inner, "acquire", "f.c"}).exit, 0);
  const Ran twice = as("bob", {"acquire", "vendor/lib/f.c"});
  EXPECT_EQ(twice.exit, 64);
  EXPECT_TRUE(contains(twice.err, "belongs to a workspace of its own")) << twice.err;

  EXPECT_EQ(as("bob", {"gate", "vendor/lib/f.c"}).exit, kLater);
  EXPECT_EQ(as("bob", {"gate", "src/a.ts", inner + "/f.c"}).exit, kLater);
  EXPECT_EQ(as("bob", {"-C", "/", "gate", inner + "/f.c"}).exit, kLater);
  EXPECT_EQ(as("ann", {"gate", "vendor/lib/f.c", "src/b.ts"}).exit, 0);
}

TEST_F(Gate, AsksAStoreThatIsNamedThoughNothingElseSaysThatTheTreeIsGuarded) {
  const RedisServer server;
  const TempFolder bare;
  const auto in_redis = [&](const std::string& agent, const std::string& command) {
    return as(agent, {"-C", bare.path(), command, "x", "--store", server.url()}).exit;
  };
  ASSERT_EQ(in_redis("ann", "acquire"), 0);

  EXPECT_EQ(in_redis("bob", "gate"), kLater);
  EXPECT_EQ(in_redis("ann", "gate"), 0);
}

TEST_F(Gate, SaysInJsonThatATreeIsNotManaged) {
  if (is_served()) GTEST_SKIP() << "a store that is named is asked";
  std::string folder = testing::TempDir() + "leasehold-unmanaged-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);

  const Ran ran = as("ann", {"gate", "-C", folder, "--json", "x"});

  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "{\"decision\":\"allowed\",\"leases\":[],\"notices\":[]}\n");
  EXPECT_EQ(rmdir(folder.c_str()), 0);
}

TEST_F(Gate, AWriteThatCannotBeCheckedIsStoppedUnlessTheSettingSaysOtherwise) {
  const std::vector<std::string> unanswered = {"gate", "docs/x.md", "--store", "redis://127.0.0.1:1"};
  EXPECT_EQ(as("ann", unanswered).exit, 69);

  configure("gate_fail_open = true\n");

  const Ran passed = as("ann", unanswered);
  EXPECT_EQ(passed.exit, 0) << passed.err;
  EXPECT_TRUE(contains(passed.err, "was not checked (gate_fail_open)")) << passed.err;
  EXPECT_EQ(as("ann", {"gate", ""}).exit, 64) << "a wrong call is none of that";
}

TEST_F(Gate, DeniesOnceThenHaltsUntilInstructed) {
  ASSERT_EQ(as("ann", {"gate", "docs/x.md"}).exit, 0);
  const auto denied = json("bob", {"gate", "docs/x.md"});
  EXPECT_EQ(denied.at("code"), "retry_later");
  EXPECT_EQ(denied.at("contentions").at(0).at("kind"), "contention_heartbeat");
  EXPECT_EQ(denied.at("contentions").at(0).at("owner").at("agent_id"), "ann");
  EXPECT_EQ(as("bob", {"gate", "docs/x.md"}).exit, kLater);

  sleep(1);

  ASSERT_TRUE(eventually([&] { return as("bob", {"gate", "docs/x.md"}).exit == kHalted; }));
  const std::string history = as("olga", {"history", "docs/x.md"}).out;
  for (const char* part :
       {"/docs/x.md is held by ann", "last heard of", "first denied", "interval 1s", "blocker"})
    EXPECT_TRUE(contains(history, part)) << part << " is not in " << history;
  const std::string blockers = as("olga", {"blockers"}).out;
  EXPECT_TRUE(contains(blockers, "bob") && contains(blockers, "interval 1s")) << blockers;
  const Ran own = as("bob", {"blockers", "resolve", blocker(), "force", "--reason", "I want it"});
  EXPECT_EQ(own.exit, 77) << own.err;
  EXPECT_EQ(as("olga", {"blockers", "resolve", blocker(), "force", "--reason", "now"}).exit, 0);
  EXPECT_EQ(as("bob", {"gate", "docs/x.md"}).exit, 0);
  const Ran lost = as("ann", {"gate", "docs/x.md"});
  EXPECT_NE(lost.exit, 0);
  EXPECT_TRUE(contains(lost.err, "an operator ended it (by olga)")) << lost.err;
}

// Waiting in line under another name would end with a lease that is in one's own way.
TEST_F(Gate, TheCommandThatWaitsInLineIsForWhoAsked) {
  ASSERT_EQ(as("ann", {"gate", "docs/x.md"}).exit, 0);

  const Ran denied = as("", {"gate", "docs/x.md", "--agent", "yve", "--session", "s1", "-C", root()});
  EXPECT_EQ(denied.exit, kLater);
  EXPECT_TRUE(contains(
      denied.err, "lease acquire file:/docs/x.md --wait 5m -C " + root() + " --agent yve --session s1\n"))
      << denied.err;
}

TEST_F(Gate, WaitsForTheRetryByItself) {
  ASSERT_EQ(as("ann", {"gate", "docs/x.md"}).exit, 0);
  StartedLease waiting = started("bob", {"gate", "docs/x.md", "--wait"});
  ASSERT_TRUE(eventually([&] { return contains(as("x", {"history"}).out, "contended"); }));
  ASSERT_EQ(as("ann", {"release", "docs/x.md"}).exit, 0);

  EXPECT_EQ(waiting.wait().exit, 0);
  EXPECT_TRUE(contains(as("x", {"ls"}).out, "bob"));
}

TEST_F(Gate, ALastWordReachesWhoWaitsForIt) {
  ASSERT_EQ(as("ann", {"gate", "docs/x.md"}).exit, 0);
  StartedLease waiting = started("bob", {"gate", "docs/x.md", "--wait"});
  ASSERT_TRUE(eventually([&] { return contains(as("x", {"blockers"}).out, "bob"); }));
  ASSERT_EQ(as("olga", {"blockers", "resolve", blocker(), "abandon", "--reason", "not ours"}).exit, 0);

  EXPECT_EQ(waiting.wait().exit, kHalted);
}

TEST_F(Gate, WaitingEndsInOneDocument) {
  ASSERT_EQ(as("ann", {"gate", "docs/x.md"}).exit, 0);

  EXPECT_EQ(json("bob", {"gate", "docs/x.md", "--wait", "--timeout", "3s"}).at("code"), "halted");
}

TEST_F(Gate, AnInstructionNeedsAReasonAndABlocker) {
  EXPECT_EQ(as("olga", {"blockers", "resolve", "x", "force", "--reason", "y"}).exit, 66);
  EXPECT_EQ(as("olga", {"blockers", "resolve", "x", "force"}).exit, 64);
  EXPECT_EQ(as("olga", {"blockers", "resolve", "x", "burn", "--reason", "y"}).exit, 64);
  EXPECT_EQ(as("olga", {"blockers"}).exit, 0);
}

TEST_F(Gate, AnAgentsHookIsAnsweredInItsDialect) {
  EXPECT_EQ(edit("s1", "src/a.ts"), "");
  const std::string denial = edit("s2", "src/a.ts");
  EXPECT_TRUE(denial.starts_with(
      R"({"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",)"))
      << denial;
  EXPECT_EQ(as("x", {"hook", "claude-code"}, "no json").exit, 0) << "2 would mean something else";
  EXPECT_EQ(as("x", {"hook", "word-star"}).exit, 64);
}

TEST_F(Gate, WhatReachesTheModelIsShort) {
  const std::string file = "docs/" + std::string(120, 'x') + ".md";
  add(file);
  const std::string reason(200, 'r');
  ASSERT_EQ(
      as("a-rather-long-name-for-an-agent-that-has-the-file", {"acquire", file, "--reason", reason}).exit, 0);
  const std::string path = root() + "/" + file;

  const Ran opencode = as("x", {"hook", "opencode"},
                          fmt::format(R"({{"event":"tool.execute.before","session":"s","tool":"write",
                                          "args":{{"filePath":"{}"}},"directory":"{}"}})",
                                      path, root()));
  const Ran windsurf = as("x", {"hook", "windsurf"},
                          fmt::format(R"({{"agent_action_name":"pre_write_code","trajectory_id":"t",
                                          "tool_info":{{"file_path":"{}"}}}})",
                                      path));
  for (const Ran& ran : {opencode, windsurf}) {
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(contains(ran.err, "is leased by a-rather-long-name")) << ran.err;
    EXPECT_LT(ran.err.size(), 400U) << ran.err;
  }
}

TEST_F(Gate, WhoIsToldToLeaveAFileAloneIsToldWhy) {
  ASSERT_EQ(as("ann", {"gate", "docs/x.md"}).exit, 0);
  ASSERT_NE(edit("s1", "docs/x.md"), "");
  sleep(1);
  ASSERT_TRUE(eventually([&] { return contains(edit("s1", "docs/x.md"), "report blocker"); }));
  ASSERT_EQ(as("olga", {"blockers", "resolve", blocker(), "abandon", "--reason", "Ann rewrites it"}).exit, 0);

  const std::string told = edit("s1", "docs/x.md");

  EXPECT_TRUE(
      contains(told, "You were told to leave docs/x.md alone for this session (\\\"Ann rewrites it\\\")."))
      << told;
}

TEST_F(Gate, AReportThatIsTooLargeIsCalledThat) {
  const Ran ran = as("x", {"hook", "claude-code"}, std::string((std::size_t{64} << 20) + 100'000, ' '));
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(contains(ran.out, "larger than any that a host makes")) << ran.out;
}

TEST_F(Gate, ANameWithANulIsNotTakenForAnother) {
  std::ofstream(root() + "/docs/x.md") << "not = TOML = at all\n";

  const Ran ran = as("ann", {"gate", "-"}, std::string("docs/x.md\0x\n", 12));

  EXPECT_EQ(ran.exit, 64) << ran.err;
  EXPECT_TRUE(contains(ran.err, "NUL")) << ran.err;
}

TEST_F(Gate, AKeyThatLeadsIntoATreeInsideIsAskedThere) {
  if (is_served()) GTEST_SKIP() << "trees are told apart by who opens their stores";
  sh("git init -q in");
  ASSERT_EQ(as("ann", {"-C", "in", "acquire", "b.ts"}).exit, 0);

  EXPECT_EQ(as("bob", {"gate", "in/b.ts"}).exit, 75);
  EXPECT_EQ(as("bob", {"gate", "file:/in/b.ts"}).exit, 75);
  EXPECT_EQ(as("ann", {"gate", "file:/in/b.ts"}).exit, 0);
  EXPECT_EQ(as("bob", {"gate", "file:/src/b.ts"}).exit, 0);
}

TEST_F(Gate, WhatThereIsNoMemoryToCheckIsNotWritten) {
  std::ofstream(root() + "/call.json")
      << fmt::format(R"({{"session_id":"s","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Write",
                          "tool_input":{{"file_path":"{}/src/b.ts","content":"{}"}}}})",
                     root(), root(), std::string(32 << 20, 'x'));

  const Ran ran = StartedProgram({"/bin/sh", "-c",
                                  "ulimit -v 40000 && exec " LEASE_BINARY " hook claude-code < call.json"},
                                 environment("x"), root())
                      .wait();

  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "\"permissionDecision\":\"deny\"")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "ulimit -a")) << ran.out;
}

// A pipe into a hook that its writer leaves open.
class OpenInput {
 public:
  explicit OpenInput(const std::string& path) {
    EXPECT_EQ(mkfifo(path.c_str(), S_IRWXU), 0);
    fd_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_GE(fd_, 0);
  }
  OpenInput(const OpenInput&) = delete;
  OpenInput& operator=(const OpenInput&) = delete;
  ~OpenInput() { close(fd_); }

  void send(const std::string& text) const {
    EXPECT_EQ(::write(fd_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

 private:
  int fd_;
};

TEST_F(Gate, AHostThatLeavesItsInputOpenIsAnsweredByWhatItSent) {
  ASSERT_EQ(edit("s1", "src/a.ts"), "");
  const std::string write = fmt::format(
      R"({{"session_id":"s2","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Write",
         "tool_input":{{"file_path":"{}/src/a.ts"}}}})",
      root(), root());
  const std::pair<std::string, std::string> sent[] = {
      {"", "input is empty"},
      {write.substr(0, write.size() / 2), "is not JSON: incomplete"},
      {write, "src/a.ts is leased by claude-code"},
  };
  for (const auto& [text, says] : sent) {
    const std::string pipe = fmt::format("{}/pipe{}", root(), text.size());
    const OpenInput input(pipe);
    input.send(text);
    StartedProgram hook({"/bin/sh", "-c", fmt::format("exec {} hook claude-code < {}", LEASE_BINARY, pipe)},
                        environment("nobody"), root());

    EXPECT_TRUE(eventually([&] { return !hook.out().empty(); })) << text;

    const Ran ran = hook.wait();
    EXPECT_EQ(ran.exit, 0) << text;
    EXPECT_TRUE(contains(ran.out, R"("permissionDecision":"deny")")) << ran.out;
    EXPECT_TRUE(contains(ran.out, says)) << ran.out;
  }
}

TEST_F(Gate, AShellThatWouldWriteAHeldFileIsDeniedAndToldWhoHasIt) {
  std::ofstream(root() + "/src/a.ts") << "const a = 1\n";
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts", "--reason", "tidying"}).exit, 0);
  const auto bash = [&](const std::string& host, const std::string& command) {
    return as("nobody", {"hook", host},
              fmt::format(R"({{"session_id":"s2","cwd":"{}","hook_event_name":"PreToolUse",
                             "tool_name":"Bash","tool_input":{{"command":"{}"}}}})",
                          root(), command));
  };

  for (const std::string host : {"claude-code", "codex"}) {
    const Ran denied = bash(host, "cd src && sed -i s/1/2/ a.ts");
    EXPECT_EQ(denied.exit, 0);
    EXPECT_TRUE(contains(denied.out, R"("permissionDecision":"deny")")) << denied.out;
    EXPECT_TRUE(contains(denied.out, "src/a.ts is leased by ann")) << denied.out;
    EXPECT_EQ(bash(host, "cat src/a.ts").out, "") << "it only reads";
    EXPECT_EQ(bash(host, "python3 tool.py").out, "") << "nobody can see";
  }
}

TEST_F(Gate, TheDeathOfAnAgentFreesItsFiles) {
  // A program of that name, whose child the hook is: that is how the agent is found.
  std::filesystem::copy("/bin/bash", root() + "/claude");
  std::ofstream(root() + "/payload") << fmt::format(
      R"({{"session_id":"s1","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Write",
         "tool_input":{{"file_path":"{}/src/b.ts"}}}})",
      root(), root());
  std::ofstream(root() + "/script") << fmt::format(
      "{} hook claude-code < payload > answer; touch done; read line\n", LEASE_BINARY);
  int held_open[2];
  ASSERT_EQ(pipe(held_open), 0);
  std::vector<std::string> variables = environment("nobody");
  const pid_t agent = fork();
  if (agent == 0) {
    for (std::string& variable : variables) putenv(variable.data());
    dup2(held_open[0], STDIN_FILENO);
    if (chdir(root().c_str()) != 0) _exit(1);
    execl("./claude", "claude", "script", nullptr);
    _exit(1);
  }
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root() + "/done"); }));
  EXPECT_EQ(std::filesystem::file_size(root() + "/answer"), 0U);
  EXPECT_NE(edit("s2", "src/b.ts"), "");

  kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);

  EXPECT_EQ(edit("s3", "src/b.ts"), "");
  close(held_open[0]);
  close(held_open[1]);
}

TEST_F(Gate, WhatAnAgentTakesInItsShellOrByItsToolsIsItsHooksOwn) {
  ASSERT_EQ(std::system(fmt::format("git init -q {}", root()).c_str()), 0);
  // Gemini CLI tells its shell and its servers no session.
  std::filesystem::copy("/bin/bash", root() + "/gemini");
  for (const std::string file : {"src/b.ts", "docs/x.md"}) {
    std::ofstream(root() + "/write-" + file.substr(0, 3)) << fmt::format(
        R"({{"session_id":"g1","cwd":"{0}","hook_event_name":"BeforeTool","tool_name":"write_file",
           "tool_input":{{"file_path":"{0}/{1}"}}}})",
        root(), file);
  }
  for (const std::string event : {"SessionStart", "SessionEnd"}) {
    std::ofstream(root() + "/" + event)
        << fmt::format(R"({{"session_id":"g1","cwd":"{}","hook_event_name":"{}"}})", root(), event);
  }
  std::ofstream(root() + "/calls")
      << R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
      << R"("capabilities":{},"clientInfo":{"name":"some-client","version":"1"}}})" << "\n"
      << R"({"jsonrpc":"2.0","method":"notifications/initialized"})" << "\n"
      << R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lease_acquire",)"
      << R"("arguments":{"paths":["docs/x.md"]}}})" << "\n";
  std::ofstream(root() + "/script") << fmt::format(R"(
unset LEASE_AGENT LEASE_SESSION
export GEMINI_CLI=1
{0} hook gemini < SessionStart > started
{0} acquire src/b.ts > acquired
{0} hook gemini < write-src > by-shell
mkfifo to-server; {0} mcp < to-server > from-server & exec 3> to-server
cat calls >&3
for ((i = 0; i < 500; ++i)); do grep -q '"id":2' from-server && break; sleep 0.02; done
{0} hook gemini < write-doc > by-tools
{0} ls --json > held
{0} hook gemini < SessionEnd > ended
{0} acquire src/b.ts --json > afterwards
exec 3>&-; wait
)",
                                                   LEASE_BINARY);
  std::vector<std::string> variables = environment("nobody");
  const pid_t agent = fork();
  if (agent == 0) {
    for (std::string& variable : variables) putenv(variable.data());
    if (chdir(root().c_str()) != 0) _exit(1);
    execl("./gemini", "gemini", "script", nullptr);
    _exit(1);
  }
  waitpid(agent, nullptr, 0);
  const auto said = [&](const std::string& file) {
    std::ifstream stream(root() + "/" + file);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };

  EXPECT_TRUE(contains(said("acquired"), "/src/b.ts")) << said("acquired");
  EXPECT_FALSE(contains(said("by-shell"), "leased by")) << said("by-shell");
  EXPECT_TRUE(contains(said("from-server"), R"("id":2)")) << said("from-server");
  EXPECT_FALSE(contains(said("by-tools"), "leased by")) << said("by-tools");
  const std::string held = said("held");
  EXPECT_TRUE(contains(held, R"("session_id":"g1")")) << held;
  EXPECT_FALSE(contains(held, R"("session_id":"mcp-)")) << held;
  EXPECT_FALSE(contains(held, R"("session_id":"")")) << held;
  EXPECT_FALSE(contains(said("afterwards"), "g1")) << "that session is over";
}

TEST_F(Gate, GitRefusesToCommitAnothersFile) {
  const auto git = [&](const std::string& arguments) {
    return std::system(
        fmt::format("cd {} && git -c user.name=x -c user.email=x@example.org {} >/dev/null 2>&1", root(),
                    arguments)
            .c_str());
  };
  ASSERT_EQ(git("init -q"), 0);
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
  ASSERT_EQ(git("add docs"), 0);

  const Ran refused = as("bob", {"git-hook", "pre-commit"});

  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(contains(refused.err, "docs/x.md is held by ann")) << refused.err;
  const Ran as_json = as("bob", {"git-hook", "pre-commit", "--json"});
  EXPECT_EQ(as_json.exit, 1);
  EXPECT_EQ(as_json.err, "");
  const auto document = boost::json::parse(as_json.out).as_object();
  EXPECT_EQ(document.at("error").at("exit_code"), 1);
  EXPECT_EQ(document.at("held").at(0).at("file"), "docs/x.md");
  EXPECT_EQ(document.at("held").at(0).at("agent_id"), "ann");
  EXPECT_EQ(as("ann", {"git-hook", "pre-commit", "--json"}).out, "{\"held\":[]}\n");
  EXPECT_EQ(as("ann", {"git-hook", "pre-commit"}).exit, 0);
  ASSERT_EQ(git("commit -q -m x"), 0);
  EXPECT_EQ(as("ann", {"git-hook", "post-commit", "--json"}).out, "{\"released\":1}\n");
  EXPECT_FALSE(contains(as("x", {"ls"}).out, "docs")) << "the commit gave it back";
}

}  // namespace
}  // namespace leasehold
