// A daemon's /mcp, spoken to as bytes: who may, what waits, and what is left when a client goes.
#include <algorithm>

#include "daemon/daemon_scene.h"

namespace leasehold {
namespace {

namespace json = boost::json;

const std::string kKind = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

std::string call_text(int id, const std::string& tool, const std::string& arguments,
                      const std::string& meta) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" +
         tool + R"(","arguments":)" + arguments + R"(,"_meta":{)" + meta + "}}}";
}

class McpHttp : public DaemonScene {
 protected:
  // A request of the era without a handshake.
  static std::string modern(const std::string& tool, const std::string& arguments,
                            const std::string& address = "/mcp?agent_id=ann",
                            const std::string& headers = {}) {
    const std::string meta = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                             R"("io.modelcontextprotocol/clientCapabilities":{},"progressToken":1)";
    return Line::request("POST", address, call_text(7, tool, arguments, meta),
                         kKind + headers + "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n" +
                             "Mcp-Name: " + tool + "\r\n");
  }
  Reply ask_modern(const std::string& tool, const std::string& arguments,
                   const std::string& address = "/mcp?agent_id=ann") const {
    Line line(socket());
    line.say(modern(tool, arguments, address));
    return line.reply();
  }
  static json::object document(const Reply& reply) {
    const json::object answer = reply.json();
    EXPECT_TRUE(answer.contains("result")) << reply;
    return answer.contains("result") ? answer.at("result").at("structuredContent").as_object()
                                     : json::object();
  }

  // The header that a session is continued with.
  std::string begin_session(const std::string& address = "/mcp", const std::string& name = "tester") const {
    const Reply reply = ask("POST", address,
                            R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":)"
                            R"("2025-11-25","capabilities":{},"clientInfo":{"name":")" +
                                name + R"(","version":"1"}}})",
                            kKind);
    EXPECT_EQ(reply.status, 200) << reply;
    return "Mcp-Session-Id: " + reply.headers.at("mcp-session-id") + "\r\n";
  }
  static std::string legacy(const std::string& session, int id, const std::string& tool,
                            const std::string& arguments) {
    return Line::request("POST", "/mcp", call_text(id, tool, arguments, ""), kKind + session);
  }
  Reply ask_legacy(const std::string& session, int id, const std::string& tool,
                   const std::string& arguments) const {
    Line line(socket());
    line.say(legacy(session, id, tool, arguments));
    return line.reply();
  }
  Reply send(const std::string& session, const std::string& text) const {
    return ask("POST", "/mcp", text, kKind + session);
  }

  bool is_held(const std::string& file) const { return contains(as("looker", {"ls"}).out, file); }
  bool somebody_waits() const { return contains(as("looker", {"status"}).out, "waits"); }
};

TEST_F(McpHttp, WithoutAHandshakeTheAddressOrTheTokenSaysWhoItIs) {
  serve();

  const auto nobody = document(ask_modern("lease_acquire", R"({"paths":["src/a.ts"]})", "/mcp"));
  EXPECT_EQ(nobody.at("error").at("code"), "invalid_session");
  EXPECT_FALSE(is_held("src/a.ts"));
  EXPECT_TRUE(document(ask_modern("lease_status", "{}", "/mcp")).contains("leases")) << "looking is free";

  const auto ann = document(ask_modern("lease_acquire", R"({"paths":["src/a.ts"]})"));
  EXPECT_EQ(ann.at("leases").at(0).at("agent_id"), "ann");
  const auto bob = ask_modern("lease_acquire", R"({"paths":["src/a.ts"]})", "/mcp?agent_id=bob");
  EXPECT_EQ(document(bob).at("error").at("code"), "busy");
  EXPECT_EQ(document(ask_modern("lease_release", R"({"all":true})")).at("outcomes").as_array().size(), 2U);
}

TEST_F(McpHttp, ATokenIsOneAgentsAndNoOther) {
  const auto token = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"token", "create"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto variables = environment("server");
    variables.push_back("LEASE_TOKENS=" + root() + "/tokens.json");
    const std::string made = run_lease(arguments, {.environment = variables, .out = {}, .cwd = root()}).out;
    return "Authorization: Bearer " + made.substr(0, made.find('\n')) + "\r\n";
  };
  const std::string anns = token({"--agent", "ann"});
  const std::string looks = token({"--role", "read-only"});
  serve({}, true);
  const auto told = [&](const std::string& credential, const std::string& address, const std::string& tool) {
    Line line(port());
    line.say(modern(tool, tool == "lease_status" ? "{}" : R"({"paths":["src/a.ts"]})", address, credential));
    return line.reply();
  };

  EXPECT_EQ(told("", "/mcp", "lease_status").status, 401);
  EXPECT_EQ(document(told(anns, "/mcp", "lease_acquire")).at("leases").at(0).at("agent_id"), "ann");
  EXPECT_EQ(document(told(anns, "/mcp?agent_id=bob", "lease_release")).at("error").at("code"), "not_owner");
  EXPECT_EQ(document(told(looks, "/mcp?agent_id=ann", "lease_release")).at("error").at("code"), "not_owner");
  EXPECT_TRUE(document(told(looks, "/mcp", "lease_status")).contains("leases"));
  EXPECT_TRUE(is_held("src/a.ts"));

  // Who is in the same session is still another agent.
  const std::string bobs = token({"--agent", "bob"});
  const auto state_for = [&](const std::string& credential) {
    Line line(port());
    line.say(modern("lease_status", R"({"paths":["src/b.ts"]})", "/mcp?session_id=shared", credential));
    return document(line.reply()).at("paths").at(0).at("state");
  };
  Line line(port());
  line.say(modern("lease_acquire", R"({"paths":["src/b.ts"]})", "/mcp?session_id=shared", anns));
  line.reply();
  EXPECT_EQ(state_for(anns), "yours");
  EXPECT_EQ(state_for(bobs), "held");
}

TEST_F(McpHttp, ASessionIsItsPrincipalsAndEndsWithWhatItHas) {
  serve();
  const std::string ann = begin_session();
  const std::string bob = begin_session();

  EXPECT_EQ(document(ask_legacy(ann, 1, "lease_acquire", R"({"paths":["src/a.ts"]})")).at("decision"),
            "granted");
  EXPECT_EQ(document(ask_legacy(bob, 1, "lease_acquire", R"({"paths":["src/a.ts"]})")).at("decision"),
            "refused")
      << "two sessions of one client are two owners";
  EXPECT_EQ(ask("DELETE", "/mcp", "", ann).status, 204);
  EXPECT_FALSE(is_held("src/a.ts"));
  EXPECT_EQ(ask_legacy(ann, 2, "lease_status", "{}").status, 404);
  EXPECT_EQ(ask_legacy("", 2, "lease_status", "{}").status, 400);
  EXPECT_EQ(ask_legacy(bob + "MCP-Protocol-Version: 1999-01-01\r\n", 2, "lease_status", "{}").status, 400);
  EXPECT_EQ(ask("GET", "/mcp").status, 405);
  EXPECT_EQ(ask("PUT", "/mcp", "{}", kKind + bob).status, 405);
}

TEST_F(McpHttp, AWaitTellsHowItGoesOnAndIsAnswered) {
  serve();
  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);
  Line line(socket());
  line.say(modern("lease_acquire", R"({"paths":["src/a.ts"],"wait_seconds":600})"));

  EXPECT_TRUE(contains(line.hear_until("\r\n\r\n"), "text/event-stream"));
  EXPECT_TRUE(contains(line.hear_until("\n\n"), "notifications/progress"));
  ASSERT_EQ(as("bob", {"release", "src/a.ts"}).exit, 0);

  EXPECT_TRUE(contains(line.hear_until("granted"), "granted"));
  EXPECT_TRUE(line.is_closed());
  EXPECT_TRUE(is_held("src/a.ts"));
}

TEST_F(McpHttp, WhoHangsUpWaitsForNothingAnyMore) {
  serve();
  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);
  Line line(socket());
  line.say(modern("lease_acquire", R"({"paths":["src/a.ts"],"wait_seconds":600})"));
  EXPECT_TRUE(eventually([&] { return somebody_waits(); }));

  line.hang_up();

  EXPECT_TRUE(eventually([&] { return !somebody_waits(); }));
  ASSERT_EQ(as("bob", {"release", "src/a.ts"}).exit, 0);
  EXPECT_FALSE(is_held("src/a.ts"));
}

TEST_F(McpHttp, ACancelledCallLeavesNothing) {
  serve();
  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);
  const std::string ann = begin_session();
  const std::string cancel =
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}})";
  Line line(socket());
  line.say(legacy(ann, 5, "lease_acquire", R"({"paths":["src/a.ts"],"wait_seconds":600})"));
  EXPECT_TRUE(eventually([&] { return somebody_waits(); }));

  EXPECT_EQ(send(ann, cancel).status, 202);
  EXPECT_TRUE(eventually([&] { return !somebody_waits(); }));
  EXPECT_TRUE(line.is_closed());
  ASSERT_EQ(as("bob", {"release", "src/a.ts"}).exit, 0);

  // One whose answer and cancellation crossed.
  EXPECT_EQ(document(ask_legacy(ann, 5, "lease_acquire", R"({"paths":["src/a.ts"]})")).at("decision"),
            "granted");
  EXPECT_EQ(send(ann, cancel).status, 202);
  EXPECT_FALSE(is_held("src/a.ts"));
}

TEST_F(McpHttp, WhatAnotherAnswerTellsOfStaysUntilThatIsCancelledToo) {
  serve();
  const std::string ann = begin_session();
  const auto cancel = [&](int id) {
    EXPECT_EQ(send(ann, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                            std::to_string(id) + "}}")
                  .status,
              202);
  };
  for (const int id : {5, 6}) {
    EXPECT_EQ(document(ask_legacy(ann, id, "lease_acquire", R"({"paths":["src/a.ts"]})")).at("decision"),
              "granted");
  }

  cancel(5);
  EXPECT_TRUE(is_held("src/a.ts"));
  cancel(6);
  EXPECT_FALSE(is_held("src/a.ts"));
}

TEST_F(McpHttp, AnIdThatIsInUseIsRefused) {
  serve();
  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);
  const std::string ann = begin_session();
  Line line(socket());
  line.say(legacy(ann, 5, "lease_acquire", R"({"paths":["src/a.ts"],"wait_seconds":600})"));
  EXPECT_TRUE(eventually([&] { return somebody_waits(); }));

  const Reply refused = ask_legacy(ann, 5, "lease_acquire", R"({"paths":["src/b.ts"]})");

  EXPECT_EQ(refused.status, 400) << refused;
  EXPECT_EQ(refused.json().at("error").at("code"), -32600);
  EXPECT_EQ(ask("DELETE", "/mcp", "", ann).status, 204);
  EXPECT_TRUE(eventually([&] { return !somebody_waits(); }));
  ASSERT_EQ(as("bob", {"release", "src/a.ts"}).exit, 0);
  EXPECT_FALSE(is_held("src/"));
}

// A tool runs twice here, and the second time its lease is gone.
TEST_F(McpHttp, WhatAnAnswerSaysCanBeGivenBack) {
  serve();
  for (const std::string address : {"/mcp?agent_id=ann", "/mcp?agent_id=ann&workspace=w"}) {
    const auto granted = document(ask_modern("lease_acquire", R"({"paths":["tmp/x.c"]})", address));
    const std::string said(granted.at("leases").at(0).at("path").as_string());

    const Reply released = ask_modern("lease_release", R"({"paths":[")" + said + R"("]})", address);

    const json::object outcome = document(released).at("outcomes").at(0).as_object();
    EXPECT_FALSE(outcome.contains("error")) << released;
    EXPECT_TRUE(document(ask_modern("lease_status", "{}", address)).at("leases").as_array().empty());
  }
}

TEST_F(McpHttp, WhoBeginsTooManySessionsLosesItsOwn) {
  const auto token = [&](const std::string& agent) {
    auto variables = environment("server");
    variables.push_back("LEASE_TOKENS=" + root() + "/tokens.json");
    const std::string made =
        run_lease({"token", "create", "--agent", agent}, {.environment = variables, .out = {}, .cwd = root()})
            .out;
    return "Authorization: Bearer " + made.substr(0, made.find('\n')) + "\r\n";
  };
  const std::string ann = token("ann");
  const std::string bob = token("bob");
  serve({}, true);
  const auto begin = [&](const std::string& credential) {
    Line line(port());
    line.say(Line::request("POST", "/mcp",
                           R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":)"
                           R"("2025-11-25","capabilities":{}}})",
                           kKind + credential));
    const Reply reply = line.reply();
    EXPECT_EQ(reply.status, 200) << reply;
    return credential + "Mcp-Session-Id: " + reply.headers.at("mcp-session-id") + "\r\n";
  };
  const auto status = [&](const std::string& session) {
    Line line(port());
    line.say(Line::request("POST", "/mcp", R"({"jsonrpc":"2.0","id":1,"method":"ping"})", kKind + session));
    return line.reply().status;
  };

  const std::string anns = begin(ann);
  const std::string first = begin(bob);
  std::string last;
  for (int i = 0; i < 1000; ++i) last = begin(bob);

  EXPECT_EQ(status(anns), 200);
  EXPECT_EQ(status(first), 404);
  EXPECT_EQ(status(last), 200);
}

TEST_F(McpHttp, WaitingAtTheGateCostsNoThreadAndEndsInTime) {
  serve();
  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);

  std::vector<std::unique_ptr<Line>> lines;
  for (int i = 0; i < 40; ++i) {
    lines.push_back(std::make_unique<Line>(socket()));
    const std::string address = "/mcp?agent_id=w" + std::to_string(i);
    lines.back()->say(modern("lease_gate", R"({"paths":["src/a.ts"],"wait_seconds":1})", address));
  }
  const std::filesystem::directory_iterator threads("/proc/" + std::to_string(daemon().pid()) + "/task");
  EXPECT_LT(std::ranges::distance(threads), 20);
  for (const auto& line : lines) {
    EXPECT_TRUE(contains(line->hear_until("retry_later"), "retry_later"));
    EXPECT_TRUE(line->is_closed());
  }
}

TEST_F(McpHttp, ChangesAreToldToAListenerAndToASession) {
  serve();
  const std::string ann = begin_session();
  const std::string uri = R"("lease://file/src/a.ts")";
  const std::string meta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                           R"("io.modelcontextprotocol/clientCapabilities":{}})";
  Line listener(socket());
  listener.say(
      Line::request("POST", "/mcp",
                    R"({"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{)"
                    R"("notifications":{"resourceSubscriptions":[)" +
                        uri + "]}," + meta + "}}",
                    kKind + "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"));
  EXPECT_TRUE(contains(listener.hear_until("acknowledged"), "acknowledged"));
  // It subscribed before it listened: nothing in between is missed.
  EXPECT_EQ(
      send(ann, R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":)" + uri + "}}")
          .status,
      200);

  ASSERT_EQ(as("bob", {"acquire", "src/b.ts"}).exit, 0);
  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);
  Line stream(socket());
  stream.say(Line::request("GET", "/mcp", "", "Accept: text/event-stream\r\n" + ann));

  EXPECT_TRUE(contains(stream.hear_until("src/a.ts"), "notifications/resources/updated"));
  EXPECT_EQ(ask("DELETE", "/mcp", "", ann).status, 204);
  EXPECT_TRUE(stream.is_closed());
  const std::string told = listener.hear_until("src/a.ts");
  EXPECT_TRUE(contains(told, R"("io.modelcontextprotocol/subscriptionId":"L")")) << told;
}

TEST_F(McpHttp, WhatIsNoMessageIsRefusedAndTheNextServed) {
  serve();
  const std::string ann = begin_session();
  const std::string deep = std::string(100'000, '[');
  for (const std::string& text : {std::string("nonsense"), std::string("[]"), std::string("{}"), deep,
                                  std::string(R"({"jsonrpc":"2.0","id":null,"method":"ping"})")}) {
    EXPECT_EQ(send(ann, text).status, 400) << text.substr(0, 50);
  }
  EXPECT_EQ(send(ann, std::string(2 << 20, 'x')).status, 413);
  EXPECT_EQ(ask("POST", "/mcp", "{}", "Content-Type: text/plain\r\n" + ann).status, 415);
  EXPECT_EQ(ask_legacy(ann, 1, "lease_status", "{}").status, 200);
}

TEST_F(McpHttp, PathsOfAnotherCopyAreTextBelowItsRoot) {
  serve();
  const std::string there = "/mcp?agent_id=ann&workspace=w&root=/home/ann/project";
  const auto acquire = [&](const std::string& path, const std::string& address) {
    return document(ask_modern("lease_acquire", R"({"paths":[")" + path + R"("]})", address));
  };

  EXPECT_EQ(acquire("/home/ann/project/src/a.ts", there).at("leases").at(0).at("path"), "/src/a.ts");
  EXPECT_EQ(acquire("src/../lib/b.ts", there).at("leases").at(0).at("path"), "/lib/b.ts");
  EXPECT_EQ(acquire("/home/bob/x", there).at("error").at("code"), "invalid_path");
  EXPECT_EQ(acquire("src/*.ts", there).at("error").at("code"), "invalid_path");
  EXPECT_EQ(acquire("/src/c.ts", "/mcp?agent_id=ann&workspace=w").at("error").at("code"), "invalid_path")
      << "nobody can tell whether this is a key";
  EXPECT_EQ(acquire("/src/a.ts", "/mcp?agent_id=ann&workspace=w").at("decision"), "granted")
      << "it is the name of what is held";
  EXPECT_EQ(acquire(root() + "/src/a.ts", "/mcp?agent_id=ann").at("leases").at(0).at("path"), "/src/a.ts");
}

// Who had a session has none any more, and could not give back what it held.
TEST_F(McpHttp, AStopGivesBackWhatNobodyCanComeBackFor) {
  serve();
  document(ask_legacy(begin_session(), 1, "lease_acquire", R"({"paths":["src/a.ts"]})"));
  const std::string named = begin_session("/mcp?agent_id=ann&session_id=s7");
  document(ask_legacy(named, 1, "lease_acquire", R"({"paths":["src/b.ts"]})"));
  ASSERT_TRUE(is_held("src/a.ts"));

  stop();

  EXPECT_FALSE(is_held("src/a.ts"));
  EXPECT_TRUE(is_held("src/b.ts"));
}

TEST_F(McpHttp, AStopEndsWaitsAndListeners) {
  serve();
  ASSERT_EQ(as("bob", {"acquire", "src/a.ts"}).exit, 0);
  Line waiter(socket());
  waiter.say(modern("lease_acquire", R"({"paths":["src/a.ts"],"wait_seconds":600})"));
  EXPECT_TRUE(eventually([&] { return somebody_waits(); }));

  EXPECT_EQ(stop().exit, 0);

  EXPECT_TRUE(waiter.is_closed());
  EXPECT_FALSE(somebody_waits());
}

}  // namespace
}  // namespace leasehold
