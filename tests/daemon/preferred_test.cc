// Hooks and checks ask a daemon that serves their store, and do without it when it is not there.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "daemon_scene.h"
#include "store/sqlite/gate.h"

namespace leasehold {
namespace {

class Preferred : public DaemonScene {
 protected:
  Ran write(const std::string& session, const std::string& file, const std::string& variable = {}) const {
    const boost::json::object call = {{"session_id", session},
                                      {"hook_event_name", "PreToolUse"},
                                      {"cwd", root()},
                                      {"tool_name", "Write"},
                                      {"tool_input", {{"file_path", root() + "/" + file}, {"content", "x"}}}};
    auto variables = environment("nobody");
    if (!variable.empty()) variables.push_back(variable);
    return run_lease(
        {"hook", "claude-code"},
        {.environment = variables, .out = {}, .cwd = root(), .in = boost::json::serialize(call)});
  }
  std::string holder_of(const std::string& file) const {
    const auto board = json("looker", {"status", file});
    const auto& rows = board.at("leases").as_array();
    return rows.empty() ? "" : std::string(rows.at(0).at("session_id").as_string());
  }
  // How often the daemon answered this.
  int answered(const std::string& operation) const {
    const std::string figures = ask("GET", "/metrics").body;
    const std::regex line("lease_http_requests_total\\{operation=\"" + operation +
                          "\",status=\"[0-9]+\"\\} ([0-9]+)");
    int count = 0;
    for (auto at = std::sregex_iterator(figures.begin(), figures.end(), line); at != std::sregex_iterator();
         ++at)
      count += std::stoi((*at)[1]);
    return count;
  }
  // Also where hooks look, which is opened last.
  void serve_store() {
    serve();
    ASSERT_TRUE(eventually([&] { return Line(store_socket()).is_connected(); })) << daemon().err();
  }
  std::string store_socket() const { return root() + "/.leasehold/socket"; }
  // One stopped inside the gate would keep everybody out, daemon or not.
  bool stop_outside_the_gate() {
    return eventually([&] {
      daemon().signal(SIGSTOP);
      int status = 0;
      waitpid(daemon().pid(), &status, WUNTRACED);
      if (sqlite::Gate::open(root() + "/.leasehold/gate").value()->enter(Duration(100))) return true;
      daemon().signal(SIGCONT);
      return false;
    });
  }
};

TEST_F(Preferred, ADaemonListensInItsStoresFolderForItsUserOnly) {
  serve_store();

  struct stat found{};
  ASSERT_EQ(::lstat(store_socket().c_str(), &found), 0);
  EXPECT_TRUE(S_ISSOCK(found.st_mode));
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  stop();
  EXPECT_FALSE(std::filesystem::exists(store_socket()));
}

TEST_F(Preferred, AHookAndACheckAskIt) {
  serve_store();

  EXPECT_EQ(write("s1", "src/a.ts").exit, 0);
  const Ran denied = write("s2", "src/a.ts");
  const std::string token = token_of("ann", "docs/x.md");
  const Ran checked = as("ann", {"check", "docs/x.md", "--token", token});

  EXPECT_TRUE(contains(denied.out, "deny")) << denied.out << denied.err;
  EXPECT_EQ(checked.exit, 0) << checked.err;
  EXPECT_EQ(holder_of("src/a.ts"), "s1");
  EXPECT_EQ(answered("gate"), 2);
  EXPECT_EQ(answered("check_token"), 1);
}

TEST_F(Preferred, AFileHasOneOwnerWhicheverWayItIsAskedFor) {
  ASSERT_EQ(std::system(("git init --quiet " + root()).c_str()), 0);
  serve();
  auto over_http = environment("bob");
  over_http.push_back("LEASE_STORE=http+unix:" + socket());
  const auto bob = [&](const std::string& file) {
    return run_lease({"acquire", file}, {.environment = over_http, .out = {}, .cwd = root(), .in = {}}).exit;
  };

  EXPECT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
  EXPECT_EQ(bob("docs/x.md"), 75);
  EXPECT_EQ(bob("docs/y.md"), 0);
  EXPECT_EQ(as("ann", {"acquire", "docs/y.md"}).exit, 75);
  EXPECT_EQ(acquire("cyd", "/docs/y.md").status, 409);
}

TEST_F(Preferred, WithoutItTheStoreIsOpened) {
  serve_store();
  EXPECT_EQ(write("s1", "src/a.ts").exit, 0);
  const Ran denied = write("s2", "src/a.ts");
  kill_it();
  ASSERT_TRUE(std::filesystem::exists(store_socket()));

  const Ran again = write("s2", "src/a.ts");
  const Ran granted = write("s2", "docs/x.md");
  std::filesystem::remove(store_socket());
  const Ran still = write("s2", "docs/x.md");

  EXPECT_TRUE(contains(again.out, "deny")) << again.out << again.err;
  EXPECT_EQ(granted.exit, 0);
  EXPECT_EQ(granted.out, still.out);
  EXPECT_EQ(holder_of("docs/x.md"), "s2");
}

TEST_F(Preferred, OneThatDoesNotAnswerIsNotWaitedForLong) {
  serve_store();
  EXPECT_EQ(write("s1", "src/a.ts").exit, 0);
  ASSERT_TRUE(stop_outside_the_gate());

  const Ran granted = write("s1", "src/b.ts");
  const Ran denied = write("s2", "src/a.ts");
  daemon().signal(SIGCONT);

  EXPECT_FALSE(contains(granted.out, "deny")) << granted.out << granted.err;
  EXPECT_TRUE(contains(denied.out, "deny")) << denied.out << denied.err;
  EXPECT_EQ(holder_of("src/b.ts"), "s1");
}

TEST_F(Preferred, OneWithOtherSettingsIsNotAsked) {
  serve_store();

  EXPECT_EQ(write("s1", "src/a.ts", "LEASE_TTL=7m").exit, 0);

  EXPECT_EQ(answered("gate"), 0);
  const auto board = json("looker", {"status", "src/a.ts"});
  EXPECT_EQ(board.at("leases").at(0).at("ttl_ms").to_number<int>(), 420'000);
}

// A daemon serves the store of a repository; some ask it, others open the store themselves.
class OneStore : public DaemonScene {
 protected:
  // Returns the status. A URL: through that.
  int asks(const std::string& agent, const std::string& folder, const std::string& file,
           const std::string& url = {}) const {
    std::vector<std::string> variables = environment(agent);
    if (!url.empty()) variables.push_back("LEASE_STORE=" + url);
    return run_lease({"acquire", file},
                     {.environment = variables, .out = {}, .cwd = root() + "/" + folder, .in = {}})
        .exit;
  }
  std::string tcp() const { return "http://127.0.0.1:" + std::to_string(port()); }
};

TEST_F(OneStore, HasOneHolderOfAFileWhoeverAsksAndWhateverItsOriginIs) {
  sh("git init -q .");
  serve({"--open-to-loopback"}, true);
  ASSERT_EQ(asks("ann", ".", "x", tcp()), 0);
  ASSERT_EQ(asks("ann", ".", "y"), 0);

  for (const char* change : {"true", "git remote add origin git@example.org:a/b",
                             "echo 'workspace = \"named\"' > .leasehold.toml"}) {
    sh(change);
    usleep(1'100'000);  // For so long the daemon goes by the names it knows.
    EXPECT_EQ(asks("bob", ".", "x"), 75) << change;
    EXPECT_EQ(asks("bob", ".", "x", tcp()), 75) << change;
    EXPECT_EQ(asks("bob", ".", "y", tcp()), 75) << change;
    EXPECT_EQ(asks("bob", ".", "y", "http+unix:" + root() + "/.git/leasehold/socket"), 75) << change;
  }
}

TEST_F(OneStore, HasOneHolderOfAFileWhereverItsServerWasStarted) {
  sh("git init -q one && mkdir plain && git init -q other");
  ASSERT_EQ(asks("ann", "one", "x"), 0);
  for (const char* place : {"plain", "other"}) {
    serve({"-C", place, "--store", "sqlite:" + root() + "/one/.git/leasehold"});

    EXPECT_EQ(asks("bob", "one", "x", "http+unix:" + socket()), 75) << place;
    EXPECT_EQ(asks("bob", "other", "x", "http+unix:" + socket()), 0) << "another file";
    (void)stop();
  }
}

TEST_F(OneStore, SaysThatTheOutcomeIsNotKnownIfItsServerDiesUnderAWaiter) {
  sh("git init -q .");
  serve();
  ASSERT_EQ(asks("ann", ".", "x"), 0);
  std::vector<std::string> variables = environment("bob");
  variables.push_back("LEASE_STORE=http+unix:" + socket());
  StartedLease waiter({"acquire", "x", "--wait", "3s", "--json"}, variables, root());
  ASSERT_TRUE(eventually([&] { return waits("bob"); }));

  kill_it();
  EXPECT_EQ(as("ann", {"release", "x"}).exit, 0);

  const Ran ran = waiter.wait();
  EXPECT_TRUE(contains(ran.out + ran.err, "outcome_unknown")) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out + ran.err, "may be yours since then")) << ran.out << ran.err;
}

TEST_F(OneStore, HasEachWorkTreeOnceIfEachIsApart) {
  configure("scope = \"worktree\"\n");
  sh("git init -q . && git add .leasehold.toml && git -c user.name=a -c user.email=b commit -q -m x && git "
     "worktree add -q w");
  serve({"--open-to-loopback"}, true);

  EXPECT_EQ(asks("ann", "w", "x", tcp()), 0);
  EXPECT_EQ(asks("bob", "w", "x"), 75);
  EXPECT_EQ(asks("bob", ".", "x"), 0) << "another one";
  EXPECT_EQ(asks("ann", ".", "x", tcp()), 75);
}

}  // namespace
}  // namespace leasehold
