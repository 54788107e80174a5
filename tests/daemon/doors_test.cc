// Everybody who should not come in, and everything that should not be said.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "daemon_scene.h"

namespace leasehold {
namespace {

class Doors : public DaemonScene {
 protected:
  std::string secret(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"token", "create"});
    auto variables = environment("operator");
    variables.push_back("LEASE_TOKENS=" + root() + "/tokens.json");
    const Ran ran = run_lease(arguments, {.environment = variables, .out = {}, .cwd = root(), .in = {}});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return ran.out.substr(0, ran.out.find('\n'));
  }
  std::string token(std::vector<std::string> arguments) const {
    return "Authorization: Bearer " + secret(std::move(arguments)) + "\r\n";
  }
  // As ann, with more variables.
  Ran with(const std::vector<std::string>& more, const std::vector<std::string>& arguments) const {
    auto variables = environment("ann");
    variables.insert(variables.end(), more.begin(), more.end());
    return run_lease(arguments, {.environment = variables, .out = {}, .cwd = root(), .in = {}});
  }
  std::string server_over_tcp() const { return "LEASE_STORE=http://127.0.0.1:" + std::to_string(port()); }
  Reply over_tcp(const std::string& method, const std::string& target, const std::string& body = {},
                 const std::string& headers = {}) const {
    return Line(port()).ask(method, target, body, headers);
  }
};

// By the kernel's table: its timer 02 is that of keep-alive.
TEST_F(Doors, AConnectionOverTcpIsProbedForMachinesThatVanish) {
  serve({"--open-to-loopback"}, true);
  Line line(port());
  ASSERT_EQ(line.ask("GET", "/healthz").status, 200);
  char local[8] = {};
  std::snprintf(local, sizeof local, ":%04X", static_cast<unsigned>(port()));

  EXPECT_TRUE(eventually([&] {
    std::ifstream table("/proc/net/tcp");
    for (std::string row; std::getline(table, row);) {
      std::istringstream words(row);
      std::string number;
      std::string here;
      std::string there;
      std::string state;
      std::string queues;
      std::string timer;
      words >> number >> here >> there >> state >> queues >> timer;
      if (here.ends_with(local) && state == "01" && timer.starts_with("02:")) return true;
    }
    return false;
  }));
}

TEST_F(Doors, TcpWithoutTokensDoesNotStart) {
  const Ran ran = as("server", {"serve", "--listen", "127.0.0.1:0"});

  EXPECT_EQ(ran.exit, 78) << ran.err;
  EXPECT_TRUE(contains(ran.err, "lease token create")) << ran.err;
  EXPECT_EQ(as("server", {"serve", "--listen", "0.0.0.0:0", "--open-to-loopback"}).exit, 78);
  for (const char* address : {"7420", "unix:here"})
    EXPECT_EQ(as("server", {"serve", "--listen", address}).exit, 64) << address;
}

TEST_F(Doors, ADaemonThatDoesNotStartLeavesNoSocket) {
  const std::string first = root() + "/first.sock";

  const Ran ran = as("server", {"serve", "--listen", "unix:" + first, "--listen", "unix:/proc/none/x"});

  EXPECT_NE(ran.exit, 0) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(first));
}

TEST_F(Doors, ATokenThatEndsBeforeItBeginsIsNotMade) {
  const Ran ran = as("server", {"token", "create", "--agent", "ann", "--expires", "0s"});
  EXPECT_EQ(ran.exit, 64) << ran.err;
  EXPECT_TRUE(contains(ran.err, "--expires")) << ran.err;
}

TEST_F(Doors, TcpAsksForATokenAndBelievesNoOther) {
  const std::string ann = token({"--agent", "ann"});
  const std::string over = token({"--agent", "ann", "--expires", "1ms"});
  serve({}, true);
  const std::string body = R"({"paths":["/a"]})";

  EXPECT_EQ(over_tcp("POST", "/v1/leases", body).status, 401);
  EXPECT_EQ(over_tcp("POST", "/v1/leases", body, "Authorization: Bearer lh_00\r\n").status, 401);
  EXPECT_EQ(over_tcp("POST", "/v1/leases", body, "Authorization: Basic YTpi\r\n").status, 401);
  EXPECT_EQ(over_tcp("POST", "/v1/leases", body, over).status, 401);
  const Reply granted = over_tcp("POST", "/v1/leases", body, ann);
  EXPECT_EQ(granted.status, 201) << granted;
  EXPECT_EQ(granted.json().at("leases").at(0).at("agent_id"), "ann");
}

TEST_F(Doors, AProjectDoesNotDecideWhoGetsTheToken) {
  const std::string ann = "LEASE_TOKEN=" + secret({"--agent", "ann"});
  serve({}, true);
  const std::string server = "http://127.0.0.1:" + std::to_string(port());
  std::ofstream(root() + "/.leasehold.toml") << "store = \"" << server << "\"\n";

  const Ran untold = with({ann}, {"acquire", "port:1"});
  EXPECT_EQ(untold.exit, 78) << untold.err;
  EXPECT_TRUE(contains(untold.err, "export LEASE_TOKEN_FOR=" + server)) << untold.err;
  EXPECT_EQ(with({ann, "LEASE_TOKEN_FOR=http://127.0.0.1:1"}, {"acquire", "port:1"}).exit, 78);
  EXPECT_EQ(with({ann, "LEASE_TOKEN_FOR=" + server + "/"}, {"acquire", "port:1"}).exit, 0);
  EXPECT_EQ(with({ann, "LEASE_STORE=" + server}, {"acquire", "port:1"}).exit, 0);
  EXPECT_EQ(with({}, {"acquire", "port:1"}).exit, 77) << "it is asked without";

  // Whom to take for that server is not the project's to say, either.
  std::ofstream(root() + "/.leasehold.toml") << "store = \"" << server << "?server_name=other\"\n";
  const Ran other = with({ann, "LEASE_TOKEN_FOR=" + server}, {"acquire", "port:1"});
  EXPECT_EQ(other.exit, 78) << other.err;
  EXPECT_TRUE(contains(other.err, server + "?server_name=other")) << other.err;
}

TEST_F(Doors, WhatRunsUnderALeaseHasItsFencingTokenAndStillComesIn) {
  const std::string ann = secret({"--agent", "ann"});
  const std::string bob = secret({"--agent", "bob"});
  serve({}, true);
  const auto under = [&](const std::string& line) {
    return with({server_over_tcp(), "LEASE_TOKEN=" + ann}, {"run", "port:1", "--", "sh", "-c", line});
  };

  const Ran ran = under(LEASE_BINARY " check port:1 --token \"$LEASE_TOKEN\" && " LEASE_BINARY " ls");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "port:1\texclusive\tann\n")) << ran.out;
  const Ran nested = under(LEASE_BINARY " run port:2 -- " LEASE_BINARY " ls");
  EXPECT_TRUE(contains(nested.out, "port:2\texclusive\tann\n")) << nested.out << nested.err;
  const Ran other = under("LEASE_TOKEN=" + bob + " LEASE_AGENT=bob " LEASE_BINARY " acquire port:3");
  EXPECT_EQ(other.exit, 0) << "its own credential counts there: " << other.err;
}

TEST_F(Doors, WhatRunsUnderALeaseHasTheSameFileOfTokens) {
  const std::string place = "LEASE_TOKENS=" + root() + "/tokens.json";
  secret({"--agent", "ann"});
  const std::string named = with({place}, {"token", "list"}).out;

  EXPECT_TRUE(contains(named, "ann")) << named;
  EXPECT_EQ(with({place}, {"run", "port:1", "--", LEASE_BINARY, "token", "list"}).out, named);
  ASSERT_EQ(as("ann", {"run", "port:1", "--", LEASE_BINARY, "token", "create", "--agent", "eve"}).exit, 0);
  EXPECT_TRUE(contains(as("ann", {"token", "list"}).out, "eve"));
}

TEST_F(Doors, WithoutAHomeNoTokenIsMadeAndNobodyServes) {
  const How nowhere = {.environment = {"LEASE_AGENT=ann"}, .out = {}, .cwd = root(), .in = {}};

  const Ran made = run_lease({"token", "create", "--agent", "ann"}, nowhere);
  EXPECT_EQ(made.exit, 78) << made.out;
  EXPECT_TRUE(contains(made.err, "LEASE_TOKENS")) << made.err;
  EXPECT_EQ(run_lease({"token", "list"}, nowhere).exit, 78);
  const Ran served = run_lease({"serve", "--listen", "nonsense"}, nowhere);
  EXPECT_EQ(served.exit, 78);
  EXPECT_TRUE(contains(served.err, "STATE_DIRECTORY")) << served.err;
}

TEST_F(Doors, ATokenForNobodyIsNotMade) {
  const Ran ran = as("server", {"token", "create", "--agent", ""});
  EXPECT_EQ(ran.exit, 64) << ran.out;
  EXPECT_TRUE(contains(ran.err, "--agent")) << ran.err;
  EXPECT_EQ(as("server", {"token", "list"}).out, "");
}

TEST_F(Doors, ATokenForEverybodyHasToBeAskedFor) {
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{},
                                             {"--role", "agent"},
                                             {"--agent", "ann", "--any-agent"},
                                             {"--role", "operator", "--any-agent"}}) {
    std::vector<std::string> arguments = {"token", "create"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = as("server", arguments);
    EXPECT_EQ(ran.exit, 64) << ran.out;
    EXPECT_TRUE(contains(ran.err, "--any-agent")) << ran.err;
  }
  EXPECT_EQ(as("server", {"token", "list"}).out, "");
}

TEST_F(Doors, WhoSharesATokenForAnyAgentActsForAll) {
  const std::string shared = token({"--any-agent"});
  const std::string ann = token({"--agent", "ann"});
  serve({}, true);
  const auto ask_as = [&](const std::string& agent, const std::string& credential) {
    return over_tcp("POST", "/v1/leases", R"({"agent_id":")" + agent + R"(","paths":["/a"]})", credential)
        .status;
  };

  EXPECT_EQ(ask_as("bob", shared), 201);
  EXPECT_EQ(ask_as("cyd", shared), 409);
  EXPECT_EQ(ask_as("bob", ann), 403);
  EXPECT_EQ(
      over_tcp("POST", "/v1/leases/release", R"({"agent_id":"bob","which":{"all":true}})", shared).status,
      200);
  EXPECT_EQ(ask_as("ann", ann), 201);
}

TEST_F(Doors, WhoComesWithoutATokenIsToldWhatToSet) {
  token({"--agent", "ann"});
  serve({}, true);
  const std::string where = "127.0.0.1:" + std::to_string(port());

  for (const std::string& variable : {std::string("X=y"), std::string("LEASE_TOKEN=lh_00")}) {
    const Ran ran = with({server_over_tcp(), variable}, {"ls"});
    EXPECT_EQ(ran.exit, 77);
    EXPECT_TRUE(contains(ran.err, "LEASE_TOKEN") && contains(ran.err, where)) << ran.err;
    EXPECT_EQ(with({server_over_tcp(), variable}, {"doctor"}).exit, 77);
  }
}

TEST_F(Doors, ADoctorWhoMayNotExamineAllSaysSo) {
  const std::string agent = "LEASE_TOKEN=" + secret({"--agent", "ann"});
  const std::string op = "LEASE_TOKEN=" + secret({"--role", "operator"});
  serve({}, true);

  const Ran ran = with({server_over_tcp(), agent}, {"doctor"});
  EXPECT_EQ(ran.exit, 77) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "role operator")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "bad ")) << ran.out;
  EXPECT_EQ(with({server_over_tcp(), op}, {"doctor"}).exit, 0);
}

TEST_F(Doors, ADoctorSaysWhatIsOddAboutATreeThatIsNotManaged) {
  serve();
  const std::string bare = root() + "-bare";
  std::filesystem::create_directory(bare);

  const Ran ran = with({"LEASE_STORE=http+unix:" + socket()}, {"doctor", "-C", bare});
  std::filesystem::remove(bare);

  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "is not managed") && contains(ran.out, "lease init")) << ran.out;
}

TEST_F(Doors, WhyAServerIsNotReachedIsSaid) {
  serve({"--open-to-loopback"}, true);
  const auto said = [&](const std::string& url, int status) {
    const Ran ran = with({"LEASE_STORE=" + url}, {"ls"});
    EXPECT_EQ(ran.exit, status) << url << ran.err;
    return ran.err;
  };

  EXPECT_TRUE(contains(said("http://127.0.0.1:1", 69), "Connection refused"));
  EXPECT_TRUE(contains(said("http+unix:" + root() + "/none", 69), "No such file or directory"));
  EXPECT_TRUE(contains(said("https://127.0.0.1:" + std::to_string(port()), 69), "TLS"));
  EXPECT_TRUE(contains(said("http://127.0.0.1:99999", 78), "65535"));
}

TEST_F(Doors, NobodyActsForAnother) {
  const std::string ann = token({"--agent", "ann"});
  const std::string bob = token({"--agent", "bob"});
  const std::string boss = token({"--role", "operator"});
  const std::string eye = token({"--role", "read-only"});
  serve({}, true);
  const std::string lease =
      "/v1/leases/" + id_of(over_tcp("POST", "/v1/leases", R"({"session_id":"s","paths":["/a"]})", ann));

  EXPECT_EQ(over_tcp("POST", "/v1/leases", R"({"agent_id":"ann","paths":["/b"]})", bob).code(), "not_owner");
  EXPECT_EQ(over_tcp("DELETE", lease + "?agent_id=ann&session_id=s", {}, bob).status, 403);
  EXPECT_EQ(over_tcp("DELETE", lease + "?session_id=s", {}, bob).status, 403);
  EXPECT_EQ(over_tcp("POST", lease + "/renew", R"({"session_id":"s","whole_session":true})", bob).status,
            403);
  EXPECT_EQ(over_tcp("POST", lease + "/transfer",
                     R"({"session_id":"s","to":{"agent_id":"bob"},"as_operator":true})", bob)
                .status,
            403);
  EXPECT_EQ(over_tcp("POST", lease + "/force-release", R"({"reason":"mine"})", bob).status, 403);
  EXPECT_EQ(over_tcp("POST", "/v1/sessions/s/end", R"({"agent_id":"bob"})", bob)
                .json()
                .at("outcomes")
                .as_array()
                .size(),
            0u);
  EXPECT_EQ(over_tcp("GET", lease, {}, eye).status, 200);
  EXPECT_EQ(over_tcp("POST", "/v1/leases", R"({"agent_id":"eve","paths":["/b"]})", eye).status, 403);
  EXPECT_EQ(over_tcp("POST", lease + "/force-release", R"({"reason":"urgent"})", boss).status, 200);
}

TEST_F(Doors, AnAgentsTokenIsForItsSubagentsToo) {
  const std::string ann = token({"--agent", "ann"});
  serve({}, true);
  const auto ask = [&](const std::string& agent) {
    const std::string body =
        R"({"agent_id":")" + agent + R"(","session_id":"s","paths":["/)" + agent + "\"]}";
    return over_tcp("POST", "/v1/leases", body, ann).status;
  };

  EXPECT_EQ(ask("ann/sub1"), 201);
  EXPECT_EQ(ask("anna"), 403);
  EXPECT_EQ(ask("bob/ann"), 403);
}

TEST_F(Doors, AnAgentsTokenEndsItsPartOfTheSessionThatIsNamed) {
  const std::string ann = token({"--agent", "ann"});
  const std::string bob = token({"--agent", "bob"});
  serve({}, true);
  const auto take = [&](const char* session, const char* path, const std::string& credential) {
    return over_tcp("POST", "/v1/leases",
                    fmt::format(R"({{"session_id":"{}","paths":["{}"]}})", session, path), credential)
        .status;
  };
  ASSERT_EQ(take("one", "/a", bob), 201);
  ASSERT_EQ(take("two", "/b", bob), 201);
  ASSERT_EQ(take("one", "/c", ann), 201);
  const auto denied = over_tcp("POST", "/v1/gate", R"({"session_id":"one","paths":["/c"]})", bob);
  ASSERT_EQ(denied.code(), "retry_later") << denied;

  const Reply ended = over_tcp("POST", "/v1/sessions/one/end", "{}", bob);

  ASSERT_EQ(ended.status, 200) << ended;
  ASSERT_EQ(ended.json().at("outcomes").as_array().size(), 1U) << ended;
  EXPECT_EQ(ended.json().at("outcomes").at(0).at("path"), "/a");
  EXPECT_EQ(over_tcp("GET", "/v1/leases", {}, bob).json().at("leases").as_array().size(), 2U);
  // What the gate remembered of it is gone: it may ask again at once.
  ASSERT_EQ(
      over_tcp("POST", "/v1/leases/release", R"({"session_id":"one","which":{"all":true}})", ann).status,
      200);
  EXPECT_EQ(over_tcp("POST", "/v1/gate", R"({"session_id":"one","paths":["/c"]})", bob).json().at("decision"),
            "granted");
}

TEST_F(Doors, AnOperatorsTokenSignsAsItsAgent) {
  const std::string olga = token({"--role", "operator", "--agent", "olga"});
  const std::string ann = token({"--agent", "ann"});
  serve({}, true);
  const auto force = [&](const std::string& more) {
    return over_tcp("POST", "/v1/leases/force-release",
                    R"({"which":{"all":true},"reason":"urgent")" + more + "}", olga);
  };
  ASSERT_EQ(over_tcp("POST", "/v1/leases", R"({"session_id":"s","paths":["/a"]})", ann).status, 201);

  EXPECT_EQ(force(R"(,"actor":"bob")").code(), "not_owner");
  EXPECT_EQ(force("").status, 200);
  const Reply told = over_tcp("POST", "/v1/leases", R"({"session_id":"s","paths":["/a"]})", ann);
  EXPECT_EQ(told.json().at("notices").at(0).at("actor"), "olga") << told;
  // Whose name is only the user's signs as the token, too.
  const Ran forced = run_lease(
      {"force-release", "src/a.ts", "--reason", "urgent"},
      {.environment = {"HOME=" + root(), "USER=tom",
                       "LEASE_TOKEN=" + secret({"--role", "operator", "--agent", "olga"}), server_over_tcp()},
       .out = {},
       .cwd = root(),
       .in = {}});
  EXPECT_FALSE(contains(forced.err, "cannot sign")) << forced.err;
}

// Else an agent would have a lease without end by it.
TEST_F(Doors, ALockOfGitLfsIsHandedOverByOperatorsOnly) {
  const std::string ann = token({"--agent", "ann"});
  const std::string boss = token({"--role", "operator"});
  serve({}, true);
  const Reply locked = over_tcp("POST", "/lfs/design/locks", R"({"path":"a.psd"})", ann);
  const std::string lease = "/v1/leases/" + std::string(locked.json().at("lock").at("id").as_string()) +
                            "/transfer?workspace=design";

  EXPECT_EQ(over_tcp("POST", lease, R"({"session_id":"git-lfs","to":{"agent_id":"ann"}})", ann).code(),
            "not_owner");
  EXPECT_EQ(over_tcp("POST", lease, R"({"agent_id":"boss","to":{"agent_id":"ann"},"as_operator":true})", boss)
                .status,
            200);
}

TEST_F(Doors, WhoMayOnlyLookTakesNobodysNotices) {
  const std::string ann = token({"--agent", "ann"});
  const std::string boss = token({"--role", "operator"});
  const std::string eye = token({"--role", "read-only"});
  serve({}, true);
  over_tcp("POST", "/v1/leases", R"({"session_id":"s","paths":["/a"]})", ann);
  over_tcp("POST", "/v1/leases/force-release", R"({"which":{"all":true},"reason":"urgent"})", boss);
  const auto notices = [&](const std::string& credential) {
    const Reply reply = over_tcp("POST", "/v1/check",
                                 R"({"agent_id":"ann","session_id":"s","path":"/a","token":1})", credential);
    EXPECT_EQ(reply.status, 200) << reply;
    return reply.json().at("notices").as_array().size();
  };

  EXPECT_EQ(notices(eye), 0U);
  EXPECT_EQ(notices(ann), 1U);
  EXPECT_EQ(notices(ann), 0U);
}

TEST_F(Doors, ATokenThatIsMadeWhileItRunsIsKnown) {
  const std::string ann = token({"--agent", "ann"});
  serve({}, true);
  ASSERT_EQ(over_tcp("GET", "/v1/leases", {}, ann).status, 200);

  const std::string bob = token({"--agent", "bob"});
  EXPECT_EQ(over_tcp("GET", "/v1/leases", {}, bob).status, 200);
  EXPECT_EQ(over_tcp("GET", "/v1/leases", {}, ann).status, 200);
  const std::string eve = token({"--agent", "eve"});
  EXPECT_TRUE(eventually([&] { return over_tcp("GET", "/v1/leases", {}, eve).status == 200; }));
  EXPECT_EQ(over_tcp("GET", "/v1/leases", {}, "Authorization: Bearer lh_none\r\n").status, 401);
}

// The token says better who it is than the user's name does.
TEST_F(Doors, WhoNamesNoAgentActsAsThatOfTheToken) {
  const std::string ann = secret({"--agent", "ann"});
  const std::string any = secret({"--any-agent"});
  serve({}, true);
  const auto run = [&](const std::string& token, const std::vector<std::string>& more,
                       const std::vector<std::string>& arguments) {
    std::vector<std::string> variables = {"HOME=" + root(), "USER=tom", "LEASE_TOKEN=" + token,
                                          server_over_tcp()};
    variables.insert(variables.end(), more.begin(), more.end());
    return run_lease(arguments, {.environment = variables, .out = {}, .cwd = root(), .in = {}});
  };

  EXPECT_EQ(run(ann, {}, {"acquire", "src/a.ts"}).exit, 0);
  EXPECT_TRUE(contains(run(ann, {}, {"ls"}).out, "ann"));
  EXPECT_EQ(run(ann, {}, {"renew", "src/a.ts"}).exit, 0);
  EXPECT_EQ(run(ann, {"LEASE_AGENT=ann"}, {"release", "src/a.ts"}).exit, 0);
  const Ran other = run(ann, {"LEASE_AGENT=bob"}, {"acquire", "src/a.ts"});
  EXPECT_EQ(other.exit, 77);
  EXPECT_TRUE(contains(other.err, "LEASE_AGENT=ann")) << other.err;
  EXPECT_EQ(run(any, {}, {"acquire", "src/b.ts"}).exit, 0);
  EXPECT_TRUE(contains(run(any, {}, {"ls"}).out, "tom@"));

  const Ran under =
      run(ann, {},
          {"run", "src/a.ts", "--", "sh", "-c",
           LEASE_BINARY " check src/a.ts --token \"$LEASE_TOKEN\" && " LEASE_BINARY " acquire docs/x.md"});
  EXPECT_EQ(under.exit, 0) << under.err;
  EXPECT_FALSE(contains(run(ann, {}, {"ls"}).out, "docs/x.md")) << "it is of a session that is over";
}

TEST_F(Doors, ARevokedTokenIsOutAfterSighup) {
  const std::string ann = token({"--agent", "ann"});
  token({"--role", "operator"});
  serve({}, true);
  ASSERT_EQ(over_tcp("GET", "/v1/leases", {}, ann).status, 200);
  Line listening(port());
  listening.say(Line::request("GET", "/v1/events", {}, ann + "Accept: text/event-stream\r\n"));
  ASSERT_TRUE(listening.hear_until("event: snapshot\n").ends_with("snapshot\n"));
  auto variables = environment("operator");
  variables.push_back("LEASE_TOKENS=" + root() + "/tokens.json");
  const How how = {.environment = variables, .out = {}, .cwd = root(), .in = {}};
  const std::string list = run_lease({"token", "list"}, how).out;
  EXPECT_FALSE(contains(list, "lh_")) << "the secret shows";
  ASSERT_EQ(run_lease({"token", "revoke", list.substr(0, list.find(' '))}, how).exit, 0);

  daemon().signal(SIGHUP);

  EXPECT_TRUE(eventually([&] { return over_tcp("GET", "/v1/leases", {}, ann).status == 401; }));
  EXPECT_TRUE(listening.is_closed()) << "it hears on";
}

TEST_F(Doors, WhoseTokenIsRevokedOrOverWaitsNoLonger) {
  const std::string mallory = token({"--agent", "mallory"});
  const std::string eve = token({"--agent", "eve", "--expires", "2s"});
  const std::string ann = token({"--agent", "ann"});
  const std::string bob = token({"--agent", "bob"});
  serve({}, true);
  ASSERT_EQ(over_tcp("POST", "/v1/leases", R"({"paths":["/a","/b"]})", ann).status, 201);
  const auto waiting = [&](const std::string& path, const std::string& credential) {
    auto line = std::make_unique<Line>(port());
    line->say(Line::request("POST", "/v1/leases", R"({"paths":[")" + path + "\"]}",
                            credential + "Prefer: wait=60\r\n"));
    return line;
  };
  const auto eve_waits = waiting("/b", eve);
  const auto mallory_waits = waiting("/a", mallory);
  const auto has_ticket = [&](const std::string& agent) {
    return !over_tcp("GET", "/v1/leases?agent_id=" + agent, {}, ann).json().at("leases").as_array().empty();
  };
  ASSERT_TRUE(eventually([&] { return has_ticket("mallory"); }));
  const auto bob_waits = waiting("/a", bob);
  auto variables = environment("operator");
  variables.push_back("LEASE_TOKENS=" + root() + "/tokens.json");
  const How how = {.environment = variables, .out = {}, .cwd = root(), .in = {}};
  const std::string list = run_lease({"token", "list"}, how).out;
  ASSERT_EQ(run_lease({"token", "revoke", list.substr(0, list.find(' '))}, how).exit, 0);

  daemon().signal(SIGHUP);

  EXPECT_NE(mallory_waits->reply().status, 201);
  EXPECT_TRUE(eventually([&] { return !has_ticket("mallory"); }));
  EXPECT_NE(eve_waits->reply().status, 201);
  EXPECT_TRUE(eventually([&] { return !has_ticket("eve"); }));
  over_tcp("POST", "/v1/leases/release", R"({"which":{"all":true}})", ann);
  EXPECT_EQ(bob_waits->reply().status, 201) << "he is not concerned";
  EXPECT_FALSE(has_ticket("mallory"));
  EXPECT_FALSE(has_ticket("eve"));
}

TEST_F(Doors, OtherNamesAndPagesFromElsewhereAreTurnedAway) {
  serve({"--open-to-loopback"}, true);

  const auto addressed = [&](const std::string& host, const std::string& more = {}) {
    Line line(port());
    line.say("GET /v1/leases HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n");
    return line.reply().status;
  };

  EXPECT_EQ(addressed("localhost:1"), 200);
  EXPECT_EQ(addressed("evil.example"), 421);
  EXPECT_EQ(addressed("localhost:1x"), 421);
  EXPECT_EQ(addressed("localhost", "Origin: http://evil.example\r\n"), 403);
  EXPECT_EQ(addressed("localhost", "Origin: http://localhost:3000\r\n"), 200);
}

TEST_F(Doors, AnAddressInTheRequestCountsInsteadOfTheHost) {
  serve({"--open-to-loopback"}, true);
  const auto asked = [&](const std::string& target, const std::string& host) {
    Line line(port());
    line.say("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return line.reply();
  };

  EXPECT_TRUE(asked("http://localhost:7420/v1/leases?limit=1", "evil.example").json().contains("leases"));
  EXPECT_EQ(asked("HTTPS://127.0.0.1/healthz", "localhost").status, 200);
  EXPECT_EQ(asked("http://evil.example/v1/leases", "localhost").status, 421);
  EXPECT_EQ(asked("http://localhost", "localhost").status, 404);
  for (const char* wrong : {"http:///v1/leases", "http://u@localhost/v1/leases", "ftp://localhost/v1/leases"})
    EXPECT_EQ(asked(wrong, "localhost").status, 400) << wrong;
}

TEST_F(Doors, ARoomIsForOperatorsToClose) {
  const std::string ann = token({"--agent", "ann"});
  const std::string op = token({"--role", "operator"});
  serve({}, true);

  EXPECT_EQ(over_tcp("PUT", "/v1/rooms/r/busy", {}, ann).status, 403);
  EXPECT_EQ(over_tcp("PUT", "/v1/rooms/r/busy", {}, op).status, 204);
  EXPECT_EQ(over_tcp("DELETE", "/v1/rooms/r/busy", {}, ann).status, 403);
}

TEST_F(Doors, ANewTokenIsToldWithTheIdItIsRevokedBy) {
  auto variables = environment("operator");
  variables.push_back("LEASE_TOKENS=" + root() + "/tokens.json");
  const How how = {.environment = variables, .out = {}, .cwd = root(), .in = {}};
  const auto made = boost::json::parse(run_lease({"token", "create", "--agent", "ann", "--json"}, how).out);

  EXPECT_TRUE(made.at("token").as_string().starts_with("lh_")) << made;
  EXPECT_EQ(run_lease({"token", "revoke", std::string(made.at("id").as_string())}, how).exit, 0);
}

TEST_F(Doors, WhatIsTooLargeOrTooDeepIsRefused) {
  serve();

  EXPECT_EQ(ask("POST", "/v1/leases", std::string(2'000'000, ' ')).status, 413);
  EXPECT_EQ(ask("GET", "/v1/leases", {}, "X: " + std::string(20'000, 'x') + "\r\n").status, 431);
  EXPECT_EQ(ask("POST", "/v1/leases", std::string(10'000, '[')).status, 400);
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(Doors, WhatTwoCouldReadInTwoWaysIsRefused) {
  serve();
  for (const char* shape : {
           "POST /v1/leases HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: "
           "chunked\r\n\r\n0\r\n\r\n",
           "POST /v1/leases HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n12345",
           "POST /v1/leases HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
           "POST /v1/leases HTTP/1.1\r\nHost: a\r\nContent-Length : 4\r\n\r\n1234",
           "POST /v1/leases HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
           "GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n",
           "POST /v1/leases HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
           "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
           "GET /v1/leases HTTP/1.1\nHost: a\n\n",
           "\x16\x03\x01\x02garbage that is no HTTP at all\r\n\r\n",
       }) {
    Line line(socket());
    line.say(shape);
    const Reply reply = line.reply();
    EXPECT_EQ(reply.status, 400) << shape;
    EXPECT_TRUE(line.is_closed()) << shape;
  }
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(Doors, WhoIsSlowIsNotWaitedFor) {
  serve();
  Line slow(socket());
  slow.say("POST /v1/leases HTTP/1.1\r\nHost: a\r\nContent-Le");

  EXPECT_TRUE(slow.is_closed());
}

TEST_F(Doors, AThousandIdleConnectionsDisturbNobody) {
  serve();
  std::vector<std::unique_ptr<Line>> idle;
  for (int i = 0; i < 1'000; ++i) idle.push_back(std::make_unique<Line>(socket()));
  for (const auto& line : idle) ASSERT_TRUE(line->is_connected());

  EXPECT_EQ(acquire("ann", "/a").status, 201);
}

}  // namespace
}  // namespace leasehold
