// On a store that several machines share, hooks start one process that keeps a session's leases.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "scene.h"
#include "started_program.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

// An agent is a process by the name of one.
class SessionKeeper : public Scene {
 protected:
  SessionKeeper() {
    std::filesystem::create_symlink("/bin/sleep", root() + "/claude");
    configure("ttl = \"1s\"\nidle_grace = \"1s\"\n");
  }
  ~SessionKeeper() override {
    // They end by themselves with their agents, and take their files along.
    EXPECT_TRUE(eventually([&] { return keepers().empty(); }));
    for (const pid_t pid : keepers()) kill(pid, SIGKILL);
  }

  std::unique_ptr<StartedProgram> start_agent() const {
    return std::make_unique<StartedProgram>(std::vector<std::string>{root() + "/claude", "600"},
                                            std::vector<std::string>{});
  }

  std::vector<std::string> variables(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"HOME=" + root(), "NO_COLOR=1"};
    if (!embedded_) all.push_back("LEASE_STORE=" + server_.url());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // What the hook says of an event of this session.
  std::string hook(const StartedProgram& agent, const std::string& session, const std::string& event,
                   const std::string& file = {}) const {
    boost::json::object report = {{"session_id", session}, {"cwd", root()}, {"hook_event_name", event}};
    if (!file.empty()) {
      report["tool_name"] = "Write";
      report["tool_input"] = {{"file_path", root() + "/" + file}};
    }
    return answer_to(agent, report);
  }

  std::string command(const StartedProgram& agent, const std::string& session,
                      const std::string& line) const {
    return answer_to(agent, {{"session_id", session},
                             {"cwd", root()},
                             {"hook_event_name", "PreToolUse"},
                             {"tool_name", "Bash"},
                             {"tool_input", {{"command", line}}}});
  }

  std::string answer_to(const StartedProgram& agent, const boost::json::object& report) const {
    const Ran ran = run_lease({"hook", "claude-code"},
                              {.environment = variables({"CLAUDE_PID=" + std::to_string(agent.pid())}),
                               .out = {},
                               .cwd = root(),
                               .in = boost::json::serialize(report)});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return ran.out;
  }

  // Those of this test's workspace.
  std::vector<pid_t> keepers() const {
    std::vector<pid_t> found;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
      const std::string name = entry.path().filename();
      pid_t pid = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size())
        continue;
      std::ifstream file(entry.path() / "cmdline", std::ios::binary);
      const std::string line{std::istreambuf_iterator<char>(file), {}};
      if (contains(line, "keep-session") && contains(line, root())) found.push_back(pid);
    }
    return found;
  }

  boost::json::array leases() const {
    const Ran ran =
        run_lease({"status", "--json"}, {.environment = variables(), .out = {}, .cwd = root(), .in = {}});
    boost::system::error_code problem;
    const auto value = boost::json::parse(ran.out, problem);
    EXPECT_TRUE(!problem) << ran.out << ran.err;
    boost::json::array live;
    if (problem) return live;
    for (const auto& row : value.at("leases").as_array()) {
      if (row.at("live").as_bool()) live.push_back(row);
    }
    return live;
  }

  std::int64_t renewals() const {
    const auto all = leases();
    return all.empty() ? -1 : all.front().at("renewal_count").to_number<std::int64_t>();
  }

  bool embedded_ = false;

 private:
  const RedisServer server_;
};

TEST_F(SessionKeeper, KeepsTheLeasesOfALivingAgent) {
  const auto agent = start_agent();
  const auto other = start_agent();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "src/b.ts"), "");

  ASSERT_TRUE(eventually([&] { return renewals() >= 4; })) << "several times its term";

  EXPECT_EQ(keepers().size(), 1U);
  EXPECT_TRUE(contains(hook(*other, "s2", "PreToolUse", "src/b.ts"), "\"deny\""));
  EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "docs/x.md"), "");
  EXPECT_EQ(keepers().size(), 1U) << "one for the session";
  EXPECT_EQ(hook(*other, "s2", "PreToolUse", "src/a.ts"), "");
  EXPECT_TRUE(eventually([&] { return keepers().size() == 2; })) << "and one for the other";
}

TEST_F(SessionKeeper, HasNothingOfItsHook) {
  const auto agent = start_agent();
  EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "src/b.ts"), "");
  ASSERT_TRUE(eventually([&] { return renewals() >= 1; }));
  ASSERT_EQ(keepers().size(), 1U);

  const std::string proc = "/proc/" + std::to_string(keepers().front());

  for (const char* fd : {"0", "1", "2"})
    EXPECT_EQ(std::filesystem::read_symlink(proc + "/fd/" + fd), "/dev/null");
  EXPECT_EQ(std::filesystem::read_symlink(proc + "/cwd"), "/");
  EXPECT_NE(getsid(keepers().front()), getsid(0));
}

TEST_F(SessionKeeper, EndsWithItsAgent) {
  const auto agent = start_agent();
  EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "src/b.ts"), "");
  ASSERT_TRUE(eventually([&] { return renewals() >= 1; }));

  agent->signal(SIGKILL);
  (void)agent->wait();

  EXPECT_TRUE(eventually([&] { return keepers().empty(); }));
  const auto other = start_agent();
  EXPECT_EQ(hook(*other, "s2", "PreToolUse", "src/b.ts"), "");
}

TEST_F(SessionKeeper, EndsWithItsSession) {
  const auto agent = start_agent();
  EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "src/b.ts"), "");
  ASSERT_TRUE(eventually([&] { return renewals() >= 1; }));

  EXPECT_EQ(hook(*agent, "s1", "SessionEnd"), "");

  EXPECT_TRUE(eventually([&] { return keepers().empty(); }));
  EXPECT_TRUE(leases().empty());
}

TEST_F(SessionKeeper, KeepsNothingOfAnAgentWhoseTurnStopped) {
  const auto agent = start_agent();
  EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "src/b.ts"), "");
  ASSERT_TRUE(eventually([&] { return renewals() >= 1; }));

  EXPECT_EQ(hook(*agent, "s1", "Stop"), "");

  EXPECT_TRUE(eventually([&] { return leases().empty(); }));
  EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "src/b.ts"), "");
  EXPECT_TRUE(eventually([&] { return renewals() >= 1; })) << "until it is at work again";
}

TEST_F(SessionKeeper, KeepsNothingOfAnAgentThatHangs) {
  configure("ttl = \"1s\"\nsilence_max = \"3s\"\n");
  const auto agent = start_agent();
  EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "src/b.ts"), "");
  ASSERT_TRUE(eventually([&] { return renewals() >= 1; }));

  EXPECT_TRUE(eventually([&] { return leases().empty(); }));
}

TEST_F(SessionKeeper, KeepsNothingThatNobodyAttends) {
  const auto agent = start_agent();
  const Ran ran =
      run_lease({"acquire", "docs/x.md", "--agent", "claude-code", "--session", "s1", "--ttl", "2s"},
                {.environment = variables(), .out = {}, .cwd = root(), .in = {}});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "src/b.ts"), "");

  EXPECT_TRUE(eventually([&] { return leases().size() == 1; }));
  EXPECT_TRUE(eventually([&] { return renewals() >= 3; }));
}

TEST_F(SessionKeeper, KeepsMoreThanOneCallNames) {
  configure("ttl = \"5s\"\n");
  const auto agent = start_agent();
  const Ran ran =
      run_lease({"acquire", "docs/x.md", "--agent", "claude-code", "--session", "s1", "--ttl", "60s"},
                {.environment = variables(), .out = {}, .cwd = root(), .in = {}});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  constexpr int kAtOnce = 50;
  constexpr int kCalls = 21;
  for (int i = 0; i < kCalls; ++i)
    EXPECT_EQ(command(*agent, "s1", fmt::format("touch f{{{}..{}}}", i * kAtOnce, (i + 1) * kAtOnce - 1)),
              "");
  ASSERT_EQ(leases().size(), kCalls * kAtOnce + 1U);

  EXPECT_TRUE(eventually([&] {
    const auto all = leases();
    return std::ranges::count_if(all, [](const auto& row) {
             return row.at("renewal_count").template to_number<std::int64_t>() > 0;
           }) == kCalls * kAtOnce;
  }));
}

TEST_F(SessionKeeper, LeavesNoMarkWhenThereIsNothingToKeep) {
  const auto agent = start_agent();
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "src/b.ts"), "");
    ASSERT_TRUE(eventually([&] { return renewals() >= 1; }));
    ASSERT_EQ(keepers().size(), 1U);
    const std::string mark =
        std::filesystem::read_symlink("/proc/" + std::to_string(keepers().front()) + "/fd/3");
    EXPECT_TRUE(std::filesystem::exists(mark));

    const Ran ran = run_lease({"release", "--all", "--agent", "claude-code", "--session", "s1"},
                              {.environment = variables(), .out = {}, .cwd = root(), .in = {}});
    ASSERT_EQ(ran.exit, 0) << ran.err;

    EXPECT_TRUE(eventually([&] { return keepers().empty(); }));
    EXPECT_FALSE(std::filesystem::exists(mark));
  }
}

// The one inside of another pid namespace cannot be seen from outside, nor the other way round.
TEST_F(SessionKeeper, KeepsLeasesOfAnEmbeddedStoreThatIsSharedWithAContainer) {
  embedded_ = true;
  const std::vector<std::string> unshare = {"/usr/bin/unshare", "--pid", "--fork", "--kill-child",
                                            "--mount-proc"};
  const auto inside = [&](const std::string& script) {
    std::vector<std::string> command = unshare;
    command.insert(command.end(), {"/bin/sh", "-c", script});
    std::vector<std::string> all = variables();
    all.push_back("PATH=/usr/bin:/bin");
    return std::make_unique<StartedProgram>(command, all, root());
  };
  if (inside("true")->wait().exit != 0) GTEST_SKIP() << "no pid namespace can be made here";
  const auto agent = start_agent();
  EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "docs/x.md"), "");
  boost::json::object report = {{"session_id", "s2"},
                                {"cwd", root()},
                                {"hook_event_name", "PreToolUse"},
                                {"tool_name", "Write"},
                                {"tool_input", {{"file_path", root() + "/src/b.ts"}}}};
  std::ofstream(root() + "/report") << boost::json::serialize(report);

  const auto container =
      inside("./claude 600 & CLAUDE_PID=$! " LEASE_BINARY " hook claude-code < report; wait");

  const auto renewals_of = [&](const std::string& path) {
    for (const auto& row : leases()) {
      if (row.at("path").as_string() == path) return row.at("renewal_count").to_number<std::int64_t>();
    }
    return std::int64_t{-1};
  };
  ASSERT_TRUE(eventually([&] { return renewals_of("/src/b.ts") >= 3; })) << container->err();
  EXPECT_EQ(keepers().size(), 1U) << "the one outside was alone when it began";
  EXPECT_EQ(hook(*agent, "s1", "PreToolUse", "tests/a.test.ts"), "");
  EXPECT_TRUE(eventually([&] { return keepers().size() == 2; }));
}

}  // namespace
}  // namespace leasehold
