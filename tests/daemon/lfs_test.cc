// The real git-lfs against the daemon.
#include <gtest/gtest.h>

#include <cstdlib>

#include "daemon_scene.h"

namespace leasehold {
namespace {

class Lfs : public DaemonScene {
 protected:
  // A repository that ann and bob have cloned, each with a token of their own.
  void SetUp() override {
    const std::string ann = token("ann");
    const std::string bob = token("bob");
    serve({}, true);
    ASSERT_EQ(
        shell("git init --quiet --bare --initial-branch=main origin.git && git clone --quiet origin.git ann"),
        0);
    configure("ann", ann);
    ASSERT_EQ(shell("cd ann && echo '*.psd lockable' > .gitattributes && echo 1 > a.psd && echo 1 > b.txt &&"
                    " git add . && git commit --quiet --message=first && git push --quiet origin HEAD:main"),
              0);
    ASSERT_EQ(shell("git clone --quiet origin.git bob"), 0);
    configure("bob", bob);
  }

  // Status of a command line; said() is what it wrote.
  int shell(const std::string& line) const {
    const std::string environment =
        "HOME=" + root() + " GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=/bin/false";
    const int status = std::system(("cd " + root() + " && " + environment + " sh -c '" + quoted(line) +
                                    "' > " + root() + "/said 2>&1 < /dev/null")
                                       .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string said() const {
    std::ifstream file(root() + "/said");
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static std::string quoted(const std::string& line) {
    std::string text;
    for (const char c : line) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text;
  }
  std::string token(const std::string& agent) const {
    auto variables = environment("operator");
    variables.push_back("LEASE_TOKENS=" + root() + "/tokens.json");
    const Ran ran = run_lease({"token", "create", "--agent", agent},
                              {.environment = variables, .out = {}, .cwd = root(), .in = {}});
    return ran.out.substr(0, ran.out.find('\n'));
  }
  void configure(const std::string& clone, const std::string& token) const {
    const std::string url = "http://127.0.0.1:" + std::to_string(port()) + "/lfs/design";
    ASSERT_EQ(
        shell("cd " + clone + " && git config user.name " + clone + " && git config user.email " + clone +
              "@example.org && git lfs install --local && git config lfs.url " + url + " && git config lfs." +
              url + ".locksverify true && git config http.extraheader \"Authorization: Bearer " + token +
              "\""),
        0)
        << said();
  }
};

TEST_F(Lfs, LocksAreLeasesUntilTheyAreReleased) {
  EXPECT_EQ(shell("cd ann && git lfs lock a.psd"), 0) << said();
  EXPECT_NE(shell("cd ann && git lfs lock a.psd"), 0) << said();
  EXPECT_NE(shell("cd bob && git lfs lock a.psd"), 0) << said();
  EXPECT_TRUE(contains(said(), "already locked")) << said();
  EXPECT_EQ(shell("cd bob && git lfs locks"), 0) << said();
  EXPECT_TRUE(contains(said(), "a.psd") && contains(said(), "ann")) << said();
  const auto lease = ask("GET", "/v1/leases?workspace=design").json().at("leases").at(0).as_object();
  EXPECT_EQ(lease.at("agent_id"), "ann");
  EXPECT_TRUE(lease.at("expires_at").is_null());

  EXPECT_NE(shell("cd bob && git lfs unlock --force a.psd"), 0) << said();
  EXPECT_EQ(shell("cd ann && git lfs unlock a.psd"), 0) << said();
  EXPECT_EQ(shell("cd bob && git lfs lock a.psd"), 0) << said();
}

TEST_F(Lfs, WhatSomebodyElseHoldsCannotBePushed) {
  ASSERT_EQ(shell("cd ann && git lfs lock a.psd"), 0) << said();
  ASSERT_EQ(shell("cd bob && chmod u+w a.psd && echo 2 > a.psd && git commit --quiet --all --message=second"),
            0)
      << said();

  EXPECT_NE(shell("cd bob && git push origin HEAD:main"), 0) << said();
  EXPECT_TRUE(contains(said(), "a.psd")) << said();
  ASSERT_EQ(shell("cd ann && git lfs unlock a.psd"), 0) << said();
  EXPECT_EQ(ask("POST", "/v1/leases?workspace=design",
                R"({"agent_id":"claude-code","session_id":"s","paths":["/a.psd"]})")
                .status,
            201);
  EXPECT_NE(shell("cd bob && git push origin HEAD:main"), 0) << said();
  EXPECT_TRUE(contains(said(), "claude-code")) << said();
  EXPECT_EQ(ask("POST", "/v1/leases/release?workspace=design",
                R"({"agent_id":"claude-code","session_id":"s","which":{"all":true}})")
                .status,
            200);
  EXPECT_EQ(shell("cd bob && git push origin HEAD:main"), 0) << said();
}

}  // namespace
}  // namespace leasehold
