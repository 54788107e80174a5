// Session locks from the command line: one process for each call, so all that counts is in the store.
#include <gtest/gtest.h>

#include "scene.h"

namespace leasehold {
namespace {

class Session : public Scene {
 protected:
  Ran in(const std::string& session, const std::vector<std::string>& arguments,
         const std::vector<std::string>& more = {}) const {
    std::vector<std::string> variables = environment("ann");
    variables.push_back("LEASE_PROFILE=session");
    variables.push_back("LEASE_SESSION=" + session);
    std::erase(variables, "LEASE_SESSION=s-ann");
    variables.insert(variables.end(), more.begin(), more.end());
    return run_lease(arguments, {.environment = variables, .out = {}, .cwd = root(), .in = {}});
  }
};

TEST_F(Session, IsRestoredAfterItsLocksRanOut) {
  ASSERT_EQ(in("s1", {"acquire", "--ttl", "50ms", "docs/x.md"}).exit, 0);
  ASSERT_EQ(in("s1", {"acquire", "--ttl", "50ms", "src/b.ts"}).exit, 0);
  ASSERT_TRUE(eventually([&] { return in("s1", {"ls"}).out.empty(); }));
  ASSERT_TRUE(eventually([&] { return in("s2", {"acquire", "src/b.ts"}).exit == 0; }));
  EXPECT_EQ(in("s1", {"session", "show", "s1"}).out, "/docs/x.md\texclusive\n/src/b.ts\texclusive\n");

  const Ran ran = in("s1", {"session", "restore", "s1"});

  EXPECT_EQ(ran.exit, 75) << "one of them is somebody else's now";
  EXPECT_TRUE(contains(ran.out, "/docs/x.md")) << ran.out;
  EXPECT_TRUE(contains(ran.err, "/src/b.ts")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "session s2")) << ran.err;
}

TEST_F(Session, TellsInJsonWhatBecameOfEachPath) {
  ASSERT_EQ(in("s1", {"acquire", "docs/x.md"}).exit, 0);

  const Ran ran = in("s1", {"session", "restore", "s1", "--json"});

  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto answer = boost::json::parse(ran.out);
  EXPECT_EQ(answer.at("session_id"), "s1");
  EXPECT_EQ(answer.at("paths").at(0).at("path"), "/docs/x.md");
  EXPECT_EQ(answer.at("paths").at(0).at("answer").at("decision"), "granted");
  EXPECT_TRUE(answer.at("invalid").as_array().empty());
}

TEST_F(Session, DoesNotGetBackWhatAnOperatorTookOrItsAgentHandedOver) {
  ASSERT_EQ(in("s1", {"acquire", "docs/x.md", "src/b.ts", "--no-pairs"}).exit, 0);
  ASSERT_EQ(as("olga", {"force-release", "docs/x.md", "--reason", "release"}).exit, 0);
  ASSERT_EQ(as("olga", {"transfer", "src/b.ts", "--operator", "--to", "bob", "--to-session", "s-bob"}).exit,
            0);

  EXPECT_EQ(in("s1", {"session", "show", "s1"}).out, "");
}

TEST_F(Session, HasNothingToRestoreOnceAllIsGivenBack) {
  ASSERT_EQ(in("s1", {"acquire", "docs/x.md"}).exit, 0);
  ASSERT_EQ(in("s1", {"release", "docs/x.md"}).exit, 0);

  const Ran ran = in("s1", {"session", "restore", "s1"});

  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(contains(ran.err, "nothing to restore")) << ran.err;
}

TEST_F(Session, MayAskSoOftenWhicheverProcessAsks) {
  if (is_served()) GTEST_SKIP() << "a server goes by limits of its own";
  const std::vector<std::string> two = {"LOCK_RATE_LIMIT_PER_MIN=2", "LOCK_RATE_LIMIT_WINDOW_MS=600000"};
  EXPECT_EQ(in("s1", {"acquire", "docs/x.md"}, two).exit, 0);
  EXPECT_EQ(in("s1", {"acquire", "docs/x.md"}, two).exit, 0);

  const Ran ran = in("s1", {"acquire", "--json", "docs/x.md"}, two);

  EXPECT_EQ(ran.exit, 75);
  const auto answer = boost::json::parse(ran.out);
  EXPECT_EQ(answer.at("error").at("code"), "rate_limited");
  EXPECT_GT(answer.at("retry_after_ms").to_number<std::int64_t>(), 0);
  EXPECT_EQ(in("s2", {"acquire", "src/b.ts"}, two).exit, 0);
}

TEST_F(Session, MustBeNamed) {
  const Ran ran = run_lease({"acquire", "docs/x.md"},
                            {.environment = {"LEASE_PROFILE=session", "LEASE_AGENT=ann", "HOME=" + root()},
                             .out = {},
                             .cwd = root(),
                             .in = {}});

  EXPECT_EQ(ran.exit, 64);
  EXPECT_TRUE(contains(ran.err, "LEASE_SESSION")) << ran.err;
  ASSERT_EQ(in("s1", {"acquire", "docs/x.md"}).exit, 0);
  EXPECT_EQ(in("s1", {"session", "restore", "a b"}).exit, 64);
  EXPECT_EQ(in("s1", {"session", "forget", "s1"}).exit, 64);
  const Ran nobodys = in("s1", {"session", "restore"});
  EXPECT_EQ(nobodys.exit, 64);
  EXPECT_TRUE(contains(nobodys.err, "SESSION is missing")) << nobodys.err;
}

TEST_F(Session, WaitsByItselfUnderTheProfileJobOnly) {
  ASSERT_EQ(as("bob", {"acquire", "docs/x.md"}).exit, 0);

  EXPECT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 75);
  EXPECT_EQ(as("ann", {"acquire", "--profile", "job", "--set", "wait_max=100ms", "docs/x.md"}).exit, 124);
  EXPECT_EQ(as("ann", {"acquire", "--profile", "job", "--wait", "0s", "docs/x.md"}).exit, 75);
}

}  // namespace
}  // namespace leasehold
