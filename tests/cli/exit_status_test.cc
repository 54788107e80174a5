// Each status of the table in docs/cli.md, as a caller gets to see it.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "scene.h"

namespace leasehold {
namespace {

using ExitStatus = Scene;

TEST_F(ExitStatus, Is64ForACallThatIsWrong) {
  EXPECT_EQ(as("ann", {"acquire"}).exit, 64);
  EXPECT_EQ(as("ann", {"acquire", "../outside.ts"}).exit, 64);
  EXPECT_EQ(as("ann", {"acquire", "src/a.ts", "--session", std::string("a\nb")}).exit, 64);
}

TEST_F(ExitStatus, Is64BeforeAnythingIsTried) {
  EXPECT_EQ(as("ann", {"acquire", "src/a.ts", "-E", "abc"}).exit, 64);
  EXPECT_EQ(as("ann", {"run", "src/a.ts", "-E", "300", "--", "touch", "ran"}).exit, 64);
  EXPECT_FALSE(std::filesystem::exists(root() + "/ran"));
  EXPECT_EQ(as("ann", {"gate", "src/a.ts", "--timeout", "5s"}).exit, 64);
  EXPECT_EQ(as("ann", {"ls"}).out, "");
}

TEST_F(ExitStatus, Is65ForMoreThanTheLimitsAllow) {
  std::vector<std::string> many = {"acquire"};
  for (int i = 0; i < 2'000; ++i) many.push_back("src/" + std::to_string(i));

  EXPECT_EQ(as("ann", many).exit, 65);
  EXPECT_EQ(as("ann", {"ls"}).out, "");
}

TEST_F(ExitStatus, Is66ForWhatIsNotThere) { EXPECT_EQ(as("ann", {"release", "src/a.ts"}).exit, 66); }

TEST_F(ExitStatus, Is69ForAStoreThatCannotBeReached) {
  EXPECT_EQ(as("ann", {"acquire", "src/a.ts", "--store", "redis://127.0.0.1:1"}).exit, 69);
}

// The program is linked statically, so it looks names up by itself.
TEST_F(ExitStatus, Is69WhereAServersNameLeadsNowhere) {
  const Ran refused = as("ann", {"acquire", "src/a.ts", "--store", "redis://localhost:1"});
  EXPECT_EQ(refused.exit, 69);
  EXPECT_TRUE(contains(refused.err, "Connection refused")) << refused.err;
  const Ran unknown = as("ann", {"acquire", "src/a.ts", "--store", "redis://nobody.invalid:1"});
  EXPECT_EQ(unknown.exit, 69);
  EXPECT_FALSE(contains(unknown.err, "Connection refused")) << unknown.err;
}

// Who waits at a terminal is told so by a thread; here no stack for one can be had.
TEST_F(ExitStatus, Is71WhereTheMachineHasNothingLeftForUs) {
  constexpr rlim_t kStack = rlim_t{4} << 30;
  constexpr rlimit kMemory = {.rlim_cur = kStack / 4 * 3, .rlim_max = kStack / 4 * 3};
  rlimit stack{};
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &stack), 0);
  if (stack.rlim_max < kStack) GTEST_SKIP() << "a stack of more than there is cannot be asked for here";
  stack.rlim_cur = kStack;
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  std::vector<std::string> command = {LEASE_BINARY, "acquire", "src/a.ts", "--wait", "10s"};
  std::vector<std::string> variables = environment("bob");
  variables.push_back("TERM=xterm");
  const auto words = pointers(command);
  const auto named = pointers(variables);

  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool is_ready = chdir(root().c_str()) == 0 && setrlimit(RLIMIT_STACK, &stack) == 0 &&
                          setrlimit(RLIMIT_AS, &kMemory) == 0;
    if (is_ready) execve(LEASE_BINARY, words.data(), named.data());
    _exit(126);
  }
  std::string said;
  char buffer[1024];
  for (ssize_t size = 0; (size = read(terminal, buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<std::size_t>(size));
  close(terminal);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);

  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 71) << said;
  EXPECT_TRUE(contains(said, "Cannot go on: ")) << said;
}

TEST_F(ExitStatus, Is74ForADamagedStore) {
  if (is_served()) GTEST_SKIP() << "there is no embedded store here";
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  for (const char* name : {"leases.db-wal", "leases.db-shm"})
    std::filesystem::remove(root() + "/.leasehold/" + name);
  std::ofstream(root() + "/.leasehold/leases.db") << std::string(8'192, 'x');

  EXPECT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 74);
  EXPECT_EQ(as("bob", {"doctor"}).exit, 74);
}

TEST_F(ExitStatus, Is75Or124OrTheCallersOwnWhereSomebodyIsInTheWay) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);

  EXPECT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 75);
  EXPECT_EQ(as("bob", {"acquire", "src/a.ts", "--wait", "10ms"}).exit, 124);
  EXPECT_EQ(as("bob", {"acquire", "src/a.ts", "-E", "3"}).exit, 3);
}

TEST_F(ExitStatus, Is77ForWhatIsNotTheCallers) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);

  EXPECT_EQ(as("bob", {"renew", "src/a.ts"}).exit, 77);
  EXPECT_EQ(as("ann", {"release", "src/a.ts", "--token", "7"}).exit, 77);
}

TEST_F(ExitStatus, Is78ForASettingThatIsWrong) {
  std::ofstream(root() + "/.leasehold.toml") << "ttl = \n";

  EXPECT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 78);
}

TEST_F(ExitStatus, Is79ForWhatWasTheCallers) {
  const std::string token = token_of("ann", "src/a.ts");
  ASSERT_EQ(as("ann", {"transfer", "--to", "bob", "src/a.ts"}).exit, 0);

  EXPECT_EQ(as("ann", {"check", "src/a.ts", "--token", token}).exit, 79);
}

// A heartbeat goes on as long as this is 0, so it has to hear of what was lost before, whoever recorded it.
TEST_F(ExitStatus, IsThatOfALossForWhoRenewsAllItHas) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts", "src/b.ts"}).exit, 0);
  ASSERT_EQ(as("ann", {"renew", "--all"}).exit, 0);
  ASSERT_EQ(as("olga", {"force-release", "src/b.ts", "--reason", "r"}).exit, 0);

  const Ran lost_one = as("ann", {"renew", "--all"});
  EXPECT_EQ(lost_one.exit, 79);
  EXPECT_TRUE(contains(lost_one.out, "/src/a.ts")) << "the rest is renewed: " << lost_one.out;
  EXPECT_TRUE(contains(lost_one.err, "One lease is not yours any more.")) << lost_one.err;
  EXPECT_EQ(as("ann", {"renew", "--all"}).exit, 0) << "it was told";

  ASSERT_EQ(as("olga", {"force-release", "src/a.ts", "--reason", "r"}).exit, 0);
  const auto lost_all = json("ann", {"renew", "--all"});
  EXPECT_EQ(lost_all.at("error").at("code"), "lost");
  const Ran nothing = as("ann", {"renew", "--all"});
  EXPECT_EQ(nothing.exit, 66);
  EXPECT_TRUE(contains(nothing.err, "you (ann) hold nothing.")) << nothing.err;
  EXPECT_EQ(as("ann", {"release", "--all"}).exit, 0) << "that is what was wanted";
}

TEST_F(ExitStatus, IsNotThatOfALossForWhatIsOnlyAskedBack) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  ASSERT_EQ(as("olga", {"force-release", "src/a.ts", "--recall", "1h", "--reason", "r"}).exit, 0);

  EXPECT_EQ(as("ann", {"renew", "--all"}).exit, 0);
}

TEST_F(ExitStatus, Is80ForAHaltedWorker) {
  configure("gate_retry = \"1ms\"\n");
  ASSERT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 0);
  ASSERT_EQ(as("bob", {"gate", "src/b.ts"}).exit, 75);

  EXPECT_TRUE(eventually([&] { return as("bob", {"gate", "src/b.ts"}).exit == 80; }));
}

TEST_F(ExitStatus, DoesNotDependOnWhetherErrorsCanBeWritten) {
  ASSERT_EQ(as("ann", {"acquire", "src/a.ts"}).exit, 0);
  std::string script = "cd " + root() + " && ";
  for (const std::string& variable : environment("bob")) script += variable + " ";
  script += std::string(LEASE_BINARY) + " acquire src/a.ts 2>/dev/full";

  EXPECT_EQ(WEXITSTATUS(std::system(script.c_str())), 75);
}

TEST_F(ExitStatus, IsTheOneInTheDocument) {
  const auto error = json("ann", {"acquire", "../outside.ts"}).at("error").as_object();

  EXPECT_EQ(error.at("code"), "invalid_path");
  EXPECT_EQ(error.at("exit_code"), 64);
}

}  // namespace
}  // namespace leasehold
