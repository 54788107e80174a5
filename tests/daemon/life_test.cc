// Starting, stopping, dying and coming back.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>
#include <set>
#include <thread>

#include "daemon_scene.h"
#include "env/machine.h"
#include "env/processes.h"
#include "support/raw_sqlite.h"

namespace leasehold {
namespace {

using DaemonLife = DaemonScene;

TEST_F(DaemonLife, WhatWasAnsweredIsThereAfterItWasKilled) {
  serve();
  std::set<std::string> granted;
  {
    std::vector<std::jthread> clients;
    std::mutex mutex;
    for (int client = 0; client < 8; ++client) {
      clients.emplace_back([&, client] {
        Line line(socket());
        for (int i = 0; i < 50; ++i) {
          const std::string path = "/c" + std::to_string(client) + "/" + std::to_string(i);
          if (line.ask("POST", "/v1/leases", R"({"agent_id":"ann","paths":[")" + path + "\"]}").status != 201)
            return;
          const std::lock_guard lock(mutex);
          granted.insert(path);
        }
      });
    }
    ASSERT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex);
      return granted.size() > 100;
    }));
    kill_it();
  }

  serve();

  std::set<std::string> found;
  const auto board = ask("GET", "/v1/leases?limit=10000").json();
  for (const auto& row : board.at("leases").as_array()) found.insert(std::string(row.at("path").as_string()));
  for (const std::string& path : granted) EXPECT_TRUE(found.contains(path)) << path;
}

TEST_F(DaemonLife, StopsWhenWhatWasBegunIsAnswered) {
  serve();
  acquire("ann", "/a");
  Line waiting(socket());
  waiting.say(
      Line::request("POST", "/v1/leases", R"({"agent_id":"bob","paths":["/a"]})", "Prefer: wait=60\r\n"));
  ASSERT_TRUE(eventually(
      [&] { return ask("GET", "/v1/leases?agent_id=bob").json().at("leases").as_array().size() == 1; }));
  Line idle(socket());

  const Ran ran = stop();

  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Reply told = waiting.reply();
  EXPECT_EQ(told.status, 503) << told;
  EXPECT_EQ(told.code(), "unavailable");
  EXPECT_TRUE(idle.is_closed());
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

TEST_F(DaemonLife, AStreamThatNobodyReadsDoesNotKeepItFromStopping) {
  serve();
  std::string paths;
  for (int i = 0; i < 1'000; ++i) paths += (i == 0 ? "\"/" : ",\"/") + std::to_string(i) + "\"";
  for (const char* agent : {"ann", "bob"})
    ASSERT_EQ(ask("POST", "/v1/leases",
                  R"({"agent_id":")" + std::string(agent) + R"(","mode":"shared","paths":[)" + paths + "]}")
                  .status,
              201);
  // More than a socket takes before somebody reads.
  Line silent(socket());
  silent.say(Line::request("GET", "/v1/events", {}, "Accept: text/event-stream\r\n"));
  ASSERT_TRUE(contains(silent.hear_until("event: snapshot"), "event: snapshot"));
  Line reads(socket());
  reads.say(Line::request("GET", "/v1/events", {}, "Accept: text/event-stream\r\n"));
  ASSERT_TRUE(contains(reads.hear_until("\n\n"), "event: snapshot"));

  const Ran ran = stop();

  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(contains(ran.err, "cut 1 streams that nobody reads")) << ran.err;
  EXPECT_FALSE(contains(ran.err, "did not end in time")) << ran.err;
}

TEST_F(DaemonLife, IsNotReadyWhileItsStoreTakesNoWritesAndSaysSoOnce) {
  serve();
  ASSERT_EQ(ask("GET", "/readyz").status, 200);
  std::filesystem::rename(root() + "/.leasehold", root() + "/.away");

  EXPECT_TRUE(eventually([&] { return ask("GET", "/readyz").status == 503; }));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(acquire("ann", "/a").status, 503);
  const Reply unready = ask("GET", "/readyz");
  EXPECT_EQ(unready.code(), "unavailable") << unready;
  EXPECT_FALSE(contains(unready.body, root())) << "anybody may ask: " << unready;

  std::filesystem::rename(root() + "/.away", root() + "/.leasehold");
  EXPECT_TRUE(eventually([&] { return ask("GET", "/readyz").status == 200; }));
  EXPECT_EQ(acquire("ann", "/a").status, 201);

  const std::string said = stop().err;
  const auto first = said.find("takes no writes");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("takes no writes", first + 1), std::string::npos) << said;
  EXPECT_NE(said.find("takes writes again", first), std::string::npos) << said;
}

TEST_F(DaemonLife, TwoDoNotShareASocket) {
  serve();

  const Ran second = as("server", {"serve", "--listen", "unix:" + socket()});

  EXPECT_EQ(second.exit, 69) << second.err;
  EXPECT_TRUE(contains(second.err, "another process serves there already")) << second.err;
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(DaemonLife, ASocketLeftBehindIsReplaced) {
  serve();
  kill_it();
  ASSERT_TRUE(std::filesystem::exists(socket()));

  serve();

  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(DaemonLife, SharesItsStoreWithProcessesThatOpenItThemselves) {
  serve();
  const std::string workspace =
      std::string(json("ann", {"acquire", "docs/x.md"}).at("leases").at(0).at("workspace").as_string());

  const Reply refused =
      ask("POST", "/v1/leases?workspace=" + workspace, R"({"agent_id":"bob","paths":["/docs/x.md"]})");
  const Reply granted =
      ask("POST", "/v1/leases?workspace=" + workspace, R"({"agent_id":"bob","paths":["/src/b.ts"]})");

  EXPECT_EQ(refused.status, 409) << refused;
  EXPECT_EQ(granted.status, 201) << granted;
  EXPECT_EQ(as("ann", {"acquire", "src/b.ts"}).exit, 75);
}

TEST_F(DaemonLife, TakesASocketFromSystemdAndSaysWhenItIsReady) {
  const std::string told = root() + "/notify";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  told.copy(address.sun_path, sizeof address.sun_path - 1);
  const int notified = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(notified, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string passed = root() + "/passed";
  auto variables = environment("server");
  variables.push_back("PATH=/usr/bin:/bin");
  const StartedProgram program({"/usr/bin/systemd-socket-activate", "-l", passed, "-E",
                                "NOTIFY_SOCKET=" + told, "-E", "HOME=" + root(), LEASE_BINARY, "serve"},
                               variables, root());

  // The socket's file is there a moment before anybody listens.
  ASSERT_TRUE(eventually([&] {
    return std::filesystem::exists(passed) && Line(passed).ask("GET", "/healthz").status == 200;
  })) << program.err();

  pollfd ready = {notified, POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 30'000), 1);
  char text[256] = {};
  EXPECT_GT(::recv(notified, text, sizeof text - 1, 0), 0);
  EXPECT_TRUE(contains(text, "READY=1")) << text;
  ::close(notified);
}

TEST_F(DaemonLife, ALocalClientThatDiesGivesItsLeasesBackAtOnce) {
  serve();
  auto variables = environment("ann");
  variables.push_back("LEASE_STORE=http+unix:" + socket());
  const StartedLease holder({"run", "src/a.ts", "--", "/bin/sleep", "600"}, variables, root());
  ASSERT_TRUE(eventually([&] { return contains(ask("GET", "/metrics").body, "lease_active_leases 2"); }))
      << ask("GET", "/metrics").body;

  holder.signal(SIGKILL);

  EXPECT_TRUE(eventually([&] { return contains(ask("GET", "/metrics").body, "lease_active_leases 0"); }));
  EXPECT_TRUE(eventually([&] {
    return contains(ask("GET", "/metrics").body, "lease_endings_total{cause=\"owner_dead\"} 2");
  })) << ask("GET", "/metrics").body
      << ask("GET", "/v1/history").body;
}

TEST_F(DaemonLife, ARequestThatDoesNotArriveWholeIsNotWaitedForLong) {
  serve();
  Line half(socket());
  half.say("POST /v1/leases HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{");
  Line whole(socket());
  EXPECT_EQ(whole.ask("GET", "/healthz").status, 200);  // By then the half is being read.

  const Ran ran = stop();

  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(contains(ran.err, "cut 1 requests that did not arrive")) << ran.err;
}

TEST_F(DaemonLife, OneThatStopsLeavesTheSocketToItsSuccessor) {
  serve({"--open-to-loopback"}, true);
  // Not by the socket, whose file would last as long as that.
  Line half(port());
  half.say("POST /v1/leases HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{");
  EXPECT_EQ(ask("GET", "/healthz").status, 200);  // By then the half is being read.
  const std::unique_ptr<StartedLease> stopping = leave();
  stopping->signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return !Line(socket()).is_connected(); }));

  serve();
  EXPECT_EQ(stopping->wait().exit, 0);

  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

// It asked the store itself, so the daemon does not watch it.
TEST_F(DaemonLife, OneWhoDiesWithoutHavingAskedTheDaemonIsFoundSoon) {
  serve();
  const StartedLease holder({"run", "src/a.ts", "--", "/bin/sleep", "600"}, environment("ann"), root());
  ASSERT_TRUE(eventually([&] { return contains(ask("GET", "/metrics").body, "lease_active_leases 2"); }))
      << ask("GET", "/metrics").body;

  holder.signal(SIGKILL);

  EXPECT_TRUE(eventually([&] {
    return contains(ask("GET", "/metrics").body, "lease_endings_total{cause=\"owner_dead\"} 2");
  })) << ask("GET", "/metrics").body
      << ask("GET", "/v1/history").body;
}

// The daemon notes what it knows of its store beside it, within a second or so.
TEST_F(DaemonLife, AStoreThatLostLeasesGrantsNothingUntilTheyHaveEnded) {
  const auto noted = [&] {
    for (const auto& file : std::filesystem::recursive_directory_iterator(root() + "/.local")) {
      if (file.path().extension() != ".json") continue;
      std::ifstream text(file.path());
      const std::string all{std::istreambuf_iterator<char>(text), {}};
      if (!contains(all, "\"highest_token\":0")) return true;
    }
    return false;
  };
  // It need not have a history to know what was granted.
  const std::vector<std::string> brief = {"--set", "ttl_max=4s", "--set", "silence_max=1s",
                                          "--set", "ttl=4s",     "--set", "keep_history=false"};
  serve(brief);
  std::filesystem::create_directories(root() + "/.local");
  EXPECT_EQ(acquire("ann", "/a").status, 201);
  ASSERT_TRUE(eventually(noted));
  stop();
  std::filesystem::rename(root() + "/.leasehold", root() + "/.lost");

  serve(brief);
  const Reply refused = acquire("bob", "/a");
  EXPECT_EQ(refused.status, 409) << refused;
  EXPECT_TRUE(contains(refused.body, "has lost leases")) << refused;
  EXPECT_EQ(ask("GET", "/v1/leases").status, 200);
  EXPECT_EQ(ask("POST", "/v1/gate", R"({"agent_id":"bob","paths":["/a"]})").status, 409);
  const auto tool = [&](const std::string& name) {
    return ask("POST", "/mcp?agent_id=bob",
               R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + name +
                   R"(","arguments":{"paths":["a"]},"_meta":{)"
                   R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                   R"("io.modelcontextprotocol/clientCapabilities":{}}}})",
               "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
               "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: " +
                   name + "\r\n");
  };
  for (const char* name : {"lease_acquire", "lease_gate"})
    EXPECT_TRUE(contains(tool(name).body, "has lost leases")) << name;
  EXPECT_TRUE(contains(tool("lease_status").body, R"("state":"free")")) << "looking is free";

  EXPECT_TRUE(eventually([&] { return acquire("bob", "/a").status == 201; }));
  stop();
  serve(brief);
  EXPECT_EQ(acquire("bob", "/b").status, 201);
}

// What became free in an older copy may be somebody else's by what was lost.
TEST_F(DaemonLife, AnOlderCopyGrantsNothingToThoseWhoWaitInIt) {
  const auto highest_token = [&] {
    const auto rows = ask("GET", "/v1/config").json().at("settings").as_array();
    for (const auto& row : rows) {
      if (row.at("key") == "served_highest_token")
        return std::stoull(std::string(row.at("value").as_string()));
    }
    return 0ULL;
  };
  serve();
  const Reply held = acquire("ann", "/a");
  const Reply queued = acquire("bob", "/a", R"(,"wait_ms":60000)");
  ASSERT_EQ(queued.status, 202) << queued;
  stop();
  std::filesystem::copy(root() + "/.leasehold", root() + "/.copy", std::filesystem::copy_options::recursive);
  serve();
  const auto before = highest_token();
  ASSERT_EQ(acquire("cyd", "/b").status, 201);
  ASSERT_TRUE(eventually([&] { return highest_token() > before; }));
  stop();
  std::filesystem::remove_all(root() + "/.leasehold");
  std::filesystem::rename(root() + "/.copy", root() + "/.leasehold");
  serve();

  const std::string ann = R"({"agent_id":"ann","session_id":"s"})";
  const Reply moved = ask("POST", "/v1/leases/" + id_of(held) + "/transfer",
                          R"({"agent_id":"ann","session_id":"s","to":{"agent_id":"eve"}})");
  EXPECT_EQ(moved.status, 409) << moved;
  EXPECT_EQ(ask("POST", "/v1/leases/" + id_of(held) + "/release", ann).status, 200);
  const std::string ticket = "/v1/tickets/" + std::string(queued.json().at("ticket").as_string());
  const std::string bob = R"({"agent_id":"bob","session_id":"s"})";
  EXPECT_EQ(ask("POST", ticket + "/poll", bob).status, 202);
}

TEST_F(DaemonLife, AStoreThatKeptWhatItHadGrantsAtOnce) {
  serve();
  EXPECT_EQ(acquire("ann", "/a").status, 201);
  ASSERT_TRUE(eventually([&] { return contains(ask("GET", "/v1/config").body, "served_highest_token"); }));
  kill_it();

  serve();

  EXPECT_EQ(acquire("bob", "/b").status, 201);
  EXPECT_EQ(acquire("bob", "/a").status, 409);
}

// A process on this machine does not come back; whoever holds something elsewhere goes on.
TEST_F(DaemonLife, AfterARebootLeasesOfOtherMachinesHaveTheirWholeTermAgain) {
  const Process here = own_process(read_machine()).value();
  const std::string process = R"(,"process":{"machine_id":")" + here.machine_id + R"(","boot_id":")" +
                              here.boot_id + R"(","pid_namespace":)" + std::to_string(here.pid_namespace) +
                              R"(,"pid":)" + std::to_string(here.pid) + R"(,"start_time":)" +
                              std::to_string(here.start_time) + "}";
  ASSERT_EQ(as("embedded", {"acquire", "docs/x.md"}).exit, 0);
  serve({"--open-to-loopback"}, true);
  const Reply granted = Line(port()).ask(
      "POST", "/v1/leases", R"({"agent_id":"far","session_id":"s","paths":["/far"],"ttl_ms":3600000})");
  ASSERT_EQ(granted.status, 201) << granted;
  ASSERT_EQ(Line(port()).ask("POST", "/lfs/art/locks", R"({"path":"logo.psd"})").status, 201);
  ASSERT_EQ(acquire("near", "/near", process).status, 201);
  ASSERT_NE(id_of(acquire("away", "/away", R"(,"process":{"machine_id":"m","boot_id":"b","pid":1})")), "");
  kill_it();
  ASSERT_EQ(run_sql(root() + "/.leasehold/leases.db", "UPDATE store SET boot_id = 'the one before'"), "");

  serve();

  EXPECT_EQ(acquire("bob", "/far").status, 409);
  EXPECT_EQ(acquire("bob", "/away").status, 409);
  EXPECT_EQ(acquire("bob", "/near").status, 201);
  EXPECT_EQ(as("bob", {"acquire", "docs/x.md"}).exit, 0);
  EXPECT_EQ(ask("GET", "/lfs/art/locks").json().at("locks").as_array().size(), 1U);
  const Reply renewed = ask("POST", "/v1/leases/" + id_of(granted) + "/renew",
                            R"({"agent_id":"far","session_id":"s","ttl_ms":3600000})");
  EXPECT_EQ(renewed.status, 200) << renewed;
  EXPECT_TRUE(contains(ask("GET", "/v1/history?path=/far").body, "the machine of the store was restarted"));
}

TEST_F(DaemonLife, WhoWatchesGoesOnBehindARestart) {
  serve();
  auto variables = environment("bob");
  variables.push_back("LEASE_STORE=http+unix:" + socket());
  StartedLease watch({"watch", "--json", "--after", "0", "--limit", "2"}, variables, root());
  ASSERT_EQ(acquire("ann", "/a").status, 201);
  ASSERT_TRUE(eventually([&] { return contains(watch.out(), "\"/a\""); }));
  stop();
  EXPECT_EQ(run_lease({"acquire", "src/b.ts"},
                      {.environment = environment("ann"), .out = {}, .cwd = root(), .in = {}})
                .exit,
            0);

  serve();
  const Ran ran = watch.wait();

  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "\"/src/b.ts\"")) << ran.out;
}

TEST_F(DaemonLife, ItIsToldWhatAClientsSettingsSayOfALeaseAndDecidesTheRest) {
  serve();
  std::ofstream(root() + "/.leasehold.toml") << "ttl = \"7m\"\ngate_retry = \"1s\"\n";
  auto variables = environment("ann");
  variables.push_back("LEASE_STORE=http+unix:" + socket());
  const auto over = [&](const std::vector<std::string>& arguments) {
    return run_lease(arguments, {.environment = variables, .out = {}, .cwd = root(), .in = {}});
  };

  EXPECT_TRUE(contains(over({"acquire", "src/a.ts", "--json"}).out, "\"ttl_ms\":420000"));
  EXPECT_TRUE(contains(over({"acquire", "src/b.ts", "--json", "--ttl", "8m"}).out, "\"ttl_ms\":480000"));
  EXPECT_TRUE(contains(over({"gate", "docs/x.md", "--json"}).out, "\"ttl_ms\":420000"));
  EXPECT_EQ(over({"config", "get", "ttl"}).out, "7m\n");
  EXPECT_EQ(over({"config", "get", "gate_retry"}).out, "3m\n") << "the server's";
  EXPECT_TRUE(contains(over({"status", "-v"}).err, "gate_retry (")) << over({"status", "-v"}).err;
  const Ran refused = over({"acquire", "src/c.ts", "--set", "gate_retry=1s"});
  EXPECT_EQ(refused.exit, 64);
  EXPECT_TRUE(contains(refused.err, "lease config set gate_retry 1s")) << refused.err;
}

TEST_F(DaemonLife, WhoWaitsForAnUpgradeGoesOnBehindARestart) {
  serve();
  const auto alone = [&](const std::string& agent, const std::vector<std::string>& arguments) {
    return run_lease(arguments, {.environment = environment(agent), .out = {}, .cwd = root(), .in = {}});
  };
  for (const char* agent : {"ann", "bob"})
    ASSERT_EQ(alone(agent, {"acquire", "src/a.ts", "--mode", "shared"}).exit, 0);
  auto variables = environment("ann");
  variables.push_back("LEASE_STORE=http+unix:" + socket());
  StartedLease upgrade({"upgrade", "src/a.ts", "--wait", "1m"}, variables, root());
  ASSERT_TRUE(eventually([&] { return contains(alone("bob", {"status", "--json"}).out, "\"pending\""); }));
  stop();
  ASSERT_EQ(alone("bob", {"release", "src/a.ts"}).exit, 0);
  const auto has_ended = [&] {
    siginfo_t ended = {};
    return waitid(P_PID, static_cast<id_t>(upgrade.pid()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid != 0;
  };
  // Longer than it sleeps between two looks: it has met that nobody is there.
  EXPECT_FALSE(eventually(has_ended, std::chrono::milliseconds(500)));

  serve();

  EXPECT_EQ(upgrade.wait().exit, 0);
  EXPECT_TRUE(contains(alone("ann", {"ls"}).out, "/src/a.ts\texclusive\tann\n"));
}

TEST_F(DaemonLife, TheCommandLineWorksOverIt) {
  serve();
  auto over = [&](const std::string& agent, const std::vector<std::string>& arguments) {
    auto variables = environment(agent);
    variables.push_back("LEASE_STORE=http+unix:" + socket());
    return run_lease(arguments, {.environment = variables, .out = {}, .cwd = root(), .in = {}});
  };

  EXPECT_EQ(over("ann", {"acquire", "src/a.ts"}).exit, 0);
  const Ran refused = over("bob", {"acquire", "src/a.ts"});
  EXPECT_EQ(refused.exit, 75);
  EXPECT_TRUE(contains(refused.err, "/src/a.ts is held by ann")) << refused.err;
  EXPECT_EQ(over("bob", {"acquire", "src/a.ts", "--wait", "1s"}).exit, 124);
  EXPECT_TRUE(contains(over("bob", {"status"}).out, "/src/a.ts"));
  EXPECT_EQ(over("ann", {"release", "--all"}).exit, 0);
  EXPECT_EQ(over("bob", {"acquire", "src/a.ts"}).exit, 0);
  stop();
  const Ran gone = over("bob", {"acquire", "src/b.ts"});
  EXPECT_EQ(gone.exit, 69);
  EXPECT_TRUE(contains(gone.err, "lease serve")) << gone.err;
}

}  // namespace
}  // namespace leasehold
