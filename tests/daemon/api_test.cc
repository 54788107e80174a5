// The HTTP API as any program sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "daemon_scene.h"

namespace leasehold {
namespace {

using Api = DaemonScene;

TEST_F(Api, GrantsAndRefusesWithTheEvidence) {
  serve();

  const Reply granted = acquire("ann", "/src/a.ts", R"(,"reason":"greet")");
  const Reply refused = acquire("bob", "/src/a.ts");

  EXPECT_EQ(granted.status, 201) << granted;
  EXPECT_EQ(granted.json().at("leases").at(0).at("path"), "/src/a.ts");
  EXPECT_EQ(
      granted.headers.at("etag"),
      "\"" + std::to_string(granted.json().at("leases").at(0).at("token").to_number<std::uint64_t>()) + "\"");
  EXPECT_EQ(refused.status, 409) << refused;
  EXPECT_EQ(refused.headers.at("content-type"), "application/problem+json");
  EXPECT_EQ(refused.code(), "busy");
  EXPECT_EQ(refused.json().at("blocked").at(0).at("agent_id"), "ann");
  EXPECT_EQ(refused.json().at("blocked").at(0).at("reason"), "greet");
}

TEST_F(Api, TreatsPathsAsTextAndLetsNoneOut) {
  serve();

  EXPECT_EQ(acquire("ann", "/src/../src/./a.ts").json().at("leases").at(0).at("path"), "/src/a.ts");
  for (const char* path : {"/../etc/passwd", "", "/a\\u0000b"}) {
    const Reply refused = acquire("ann", path);
    EXPECT_EQ(refused.status, 400) << refused;
    EXPECT_EQ(refused.code(), "invalid_path") << refused;
  }
}

TEST_F(Api, RenewsAndReleasesByIdUnderTheTokenOfIfMatch) {
  serve();
  const Reply granted = acquire("ann", "/a");
  const std::string lease = "/v1/leases/" + id_of(granted);
  const std::string me = R"({"agent_id":"ann","session_id":"s"})";
  const std::string tag = granted.headers.at("etag");

  EXPECT_EQ(ask("POST", lease + "/renew", me, "If-Match: " + tag + "\r\n").status, 200);
  EXPECT_EQ(ask("POST", lease + "/renew", me, "If-Match: \"5\"\r\n").status, 412);
  EXPECT_EQ(ask("POST", lease + "/renew", me, "If-Match: 5\r\n").status, 400);
  EXPECT_EQ(ask("GET", lease).headers.at("etag"), tag);
  EXPECT_EQ(ask("GET", lease, {}, "If-None-Match: " + tag + "\r\n").status, 200) << "it says when it ends";
  EXPECT_EQ(ask("DELETE", lease + "?agent_id=bob&session_id=s").code(), "not_owner");
  EXPECT_EQ(ask("DELETE", lease + "?agent_id=ann&session_id=s").status, 200);
  const Reply again = ask("DELETE", lease + "?agent_id=ann&session_id=s");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.json().at("already"), true);
  EXPECT_EQ(ask("POST", lease + "/renew", me).code(), "lost");
  EXPECT_EQ(ask("GET", "/v1/leases/none").code(), "not_found");
}

TEST_F(Api, AnUpgradeIsOfTheLeaseThatItNamesAndOfNoOther) {
  serve();
  const std::string shared = R"(,"mode":"shared")";
  const std::string ann = R"({"agent_id":"ann","session_id":"s"})";
  const std::string bob = R"({"agent_id":"bob","session_id":"s"})";
  const Reply first = acquire("ann", "/a", shared);
  const std::string lease = "/v1/leases/" + id_of(first);
  const std::string match = "If-Match: " + first.headers.at("etag") + "\r\n";
  ask("DELETE", lease + "?agent_id=ann&session_id=s");
  const std::string others = "/v1/leases/" + id_of(acquire("bob", "/a", shared));

  EXPECT_EQ(ask("POST", lease + "/upgrade", bob, match).code(), "not_owner");
  EXPECT_EQ(ask("POST", lease + "/upgrade", ann, match).code(), "lost");
  EXPECT_EQ(ask("POST", others + "/upgrade", ann).code(), "not_owner");
  EXPECT_EQ(ask("GET", others).json().at("mode"), "shared");
  const Reply upgraded = ask("POST", others + "/upgrade", bob);
  EXPECT_EQ(upgraded.status, 200) << upgraded;
  EXPECT_EQ(ask("POST", others + "/upgrade", bob, match).code(), "stale_token");
}

TEST_F(Api, GitLfsLocksTheFileThatIsNamed) {
  serve();
  for (const char* body :
       {"{}", R"({"path":5})", R"({"path":""})", R"({"path":"a/.."})", R"({"path":"a/"})"}) {
    const Reply refused = ask("POST", "/lfs/w/locks", body);
    EXPECT_EQ(refused.status, 400) << body << refused;
  }
  ASSERT_EQ(ask("POST", "/lfs/w/locks", R"({"path":"dir/x"})").status, 201);
  const Reply other = ask("POST", "/lfs/w/locks", R"({"path":"dir"})");
  EXPECT_EQ(other.status, 201) << other;
  EXPECT_EQ(other.json().at("lock").at("path"), "dir");
}

TEST_F(Api, GitLfsMissesNoLockWhenOneIsReleasedBetweenTwoPages) {
  serve();
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) {
    const Reply locked = ask("POST", "/lfs/w/locks", R"({"path":"f)" + std::to_string(i) + "\"}");
    ASSERT_EQ(locked.status, 201) << locked;
    ids.emplace_back(locked.json().at("lock").at("id").as_string());
  }
  for (const std::size_t released : {0, 2}) {
    const auto first = ask("POST", "/lfs/w/locks/verify", R"({"limit":3})").json();
    const std::string cursor(first.at("next_cursor").as_string());
    ask("POST", "/lfs/w/locks/" + ids[released] + "/unlock", "{}");

    const auto next = ask("POST", "/lfs/w/locks/verify", R"({"limit":6,"cursor":")" + cursor + "\"}").json();

    const auto& last = first.at("ours").at(2).at("path").as_string();
    EXPECT_EQ(next.at("ours").at(0).at("path"), last == "f2" ? "f3" : "f4");
    EXPECT_EQ(ask("GET", "/lfs/w/locks?limit=6&cursor=" + cursor).json().at("locks"), next.at("ours"));
    EXPECT_FALSE(next.contains("next_cursor"));
  }
}

TEST_F(Api, IfMatchIsRefusedWhereItIsAboutNoLease) {
  serve();
  const Reply granted = acquire("ann", "/a");
  const std::string match = "If-Match: " + granted.headers.at("etag") + "\r\n";
  const std::string all = R"({"agent_id":"ann","session_id":"s","which":{"all":true}})";

  for (const char* target : {"/v1/leases/renew", "/v1/leases/release", "/v1/leases/downgrade", "/v1/check"}) {
    const Reply refused = ask("POST", target, all, match);
    EXPECT_EQ(refused.status, 400) << target << refused;
    EXPECT_TRUE(contains(refused.body, "If-Match is about one lease")) << target << refused;
  }
  EXPECT_EQ(ask("GET", "/v1/files?path=/a").json().at("locked"), true);
  EXPECT_EQ(ask("GET", "/v1/leases", {}, match).status, 200);
}

TEST_F(Api, HeadIsAGetWithoutItsBody) {
  serve();
  const std::string lease = "/v1/leases/" + id_of(acquire("ann", "/a"));
  Line line(socket());

  for (const std::string& target :
       {std::string("/healthz"), std::string("/readyz"), std::string("/openapi.json"), lease,
        std::string("/v1/agents?x=1"), std::string("/v1/leases/none")}) {
    const Reply whole = ask("GET", target);
    line.say("HEAD " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const std::string head = line.hear_until("\r\n\r\n");
    EXPECT_TRUE(head.starts_with("HTTP/1.1 " + std::to_string(whole.status))) << target << head;
    EXPECT_TRUE(contains(head, "Content-Length: " + whole.headers.at("content-length") + "\r\n"))
        << target << head;
    EXPECT_TRUE(contains(head, "Content-Type: " + whole.headers.at("content-type") + "\r\n"))
        << target << head;
  }
  line.say("HEAD /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
  const std::string stream = line.hear_until("\r\n\r\n");
  EXPECT_TRUE(contains(stream, "Content-Type: text/event-stream")) << stream;
  EXPECT_EQ(line.ask("GET", "/healthz").status, 200) << "nothing came in between";
}

TEST_F(Api, AnIdempotencyKeyGivesTheSameGrant) {
  serve();
  const std::string body = R"({"agent_id":"ann","paths":["/a"]})";

  const Reply first = ask("POST", "/v1/leases", body, "Idempotency-Key: \"k1\"\r\n");
  const Reply second = ask("POST", "/v1/leases", body, "Idempotency-Key: \"k1\"\r\n");

  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(id_of(first), id_of(second));
  EXPECT_EQ(second.json().at("replayed"), true);
}

TEST_F(Api, WaitsAsLongAsPreferred) {
  serve();
  const Reply held = acquire("ann", "/a");
  Line waiting(socket());
  waiting.say(
      Line::request("POST", "/v1/leases", R"({"agent_id":"bob","paths":["/a"]})", "Prefer: wait=60\r\n"));
  ASSERT_TRUE(eventually(
      [&] { return ask("GET", "/v1/leases?agent_id=bob").json().at("leases").as_array().size() == 1; }));

  ask("DELETE", "/v1/leases/" + id_of(held) + "?agent_id=ann&session_id=s");

  const Reply granted = waiting.reply();
  EXPECT_EQ(granted.status, 201) << granted;
  EXPECT_EQ(granted.headers.at("preference-applied"), "wait=60");
}

TEST_F(Api, APreferenceIsReadHoweverItIsSpelledAndSaidToBeAppliedOnlyIfItWas) {
  serve();
  acquire("ann", "/a");
  const auto waits = [&](const std::string& headers, const std::string& more = {}) {
    return ask("POST", "/v1/leases", R"({"agent_id":"bob","paths":["/a"])" + more + "}", headers);
  };

  for (const char* headers : {"Prefer: Wait=\"1\"\r\n", "Prefer: respond-async\r\nprefer: wait=1\r\n"}) {
    const Reply late = waits(headers);
    EXPECT_EQ(late.status, 408) << headers << late;
    EXPECT_EQ(late.headers.at("preference-applied"), "wait=1") << headers;
  }
  for (const char* headers : {"Prefer: wait=1abc\r\n", "Prefer: wait=0\r\n", "Prefer: waits=1\r\n"}) {
    const Reply refused = waits(headers);
    EXPECT_EQ(refused.status, 409) << headers << refused;
    EXPECT_FALSE(refused.headers.contains("preference-applied")) << headers;
  }
  const Reply shorter = waits("Prefer: wait=60\r\n", R"(,"wait_ms":50)");
  EXPECT_EQ(shorter.status, 408) << shorter;
  EXPECT_FALSE(shorter.headers.contains("preference-applied"));
  const Reply longer = waits("Prefer: wait=1\r\n", R"(,"wait_ms":60000)");
  EXPECT_EQ(longer.status, 408) << longer;
  EXPECT_EQ(longer.headers.at("preference-applied"), "wait=1");
  EXPECT_FALSE(waits("Prefer: wait=1\r\n", R"(,"paths":[])").headers.contains("preference-applied"));
}

TEST_F(Api, AWaitInVainTellsForWhom) {
  serve();
  acquire("ann", "/a");

  const Reply late = ask("POST", "/v1/leases", R"({"agent_id":"bob","paths":["/a"]})", "Prefer: wait=1\r\n");

  EXPECT_EQ(late.status, 408) << late;
  EXPECT_EQ(late.code(), "timeout");
  EXPECT_EQ(late.json().at("blocked").at(0).at("agent_id"), "ann");
}

TEST_F(Api, WhoHangsUpWaitsNoLonger) {
  serve();
  acquire("ann", "/a");
  const auto waits = [&] {
    return ask("GET", "/v1/leases?agent_id=bob").json().at("leases").as_array().size();
  };
  Line waiting(socket());
  waiting.say(
      Line::request("POST", "/v1/leases", R"({"agent_id":"bob","paths":["/a"]})", "Prefer: wait=60\r\n"));
  ASSERT_TRUE(eventually([&] { return waits() == 1; }));

  waiting.hang_up();

  EXPECT_TRUE(eventually([&] { return waits() == 0; }));
}

TEST_F(Api, WhoHangsUpBehindAnotherRequestWaitsNoLonger) {
  serve();
  const Reply held = acquire("ann", "/a");
  const auto waits = [&] {
    return ask("GET", "/v1/leases?agent_id=bob").json().at("leases").as_array().size();
  };
  Line waiting(socket());
  waiting.say(
      Line::request("POST", "/v1/leases", R"({"agent_id":"bob","paths":["/a"]})", "Prefer: wait=60\r\n"));
  ASSERT_TRUE(eventually([&] { return waits() == 1; }));
  waiting.say(Line::request("GET", "/healthz"));
  ask("GET", "/healthz");

  waiting.hang_up();
  ask("DELETE", "/v1/leases/" + id_of(held) + "?agent_id=ann&session_id=s");

  EXPECT_TRUE(eventually([&] { return waits() == 0; }));
  EXPECT_EQ(acquire("cyd", "/a").status, 201);
}

TEST_F(Api, WhoSendsNoMoreIsToldThatItsWaitIsOver) {
  serve();
  acquire("ann", "/a");
  Line waiting(socket());
  waiting.say(
      Line::request("POST", "/v1/leases", R"({"agent_id":"bob","paths":["/a"]})", "Prefer: wait=60\r\n"));
  waiting.send_no_more();

  const Reply over = waiting.reply();

  EXPECT_EQ(over.status, 503) << over;
  EXPECT_THAT(over.body, testing::HasSubstr("closed by its client"));
}

// Its first connection was lost, and the server hears of that only after it has asked again.
TEST_F(Api, WhoAsksAgainUnderItsKeyKeepsItsPlaceWhenTheOldConnectionEnds) {
  serve();
  const Reply held = acquire("ann", "/a");
  const std::string request = Line::request("POST", "/v1/leases", R"({"agent_id":"bob","paths":["/a"]})",
                                            "Prefer: wait=60\r\nIdempotency-Key: \"k\"\r\n");
  const auto connections = [&] {
    const std::string text = ask("GET", "/metrics").body;
    return std::stoi(text.substr(text.find("\nlease_http_connections ") + 24));
  };
  Line lost(socket());
  lost.say(request);
  ASSERT_TRUE(eventually(
      [&] { return ask("GET", "/v1/leases?agent_id=bob").json().at("leases").as_array().size() == 1; }));
  Line again(socket());
  again.say(request);
  ASSERT_TRUE(eventually([&] { return connections() == 3; }));
  ask("GET", "/healthz");  // Came later, so what was asked before it is being done.

  lost.hang_up();
  ASSERT_TRUE(eventually([&] { return connections() == 2; }));
  ask("DELETE", "/v1/leases/" + id_of(held) + "?agent_id=ann&session_id=s");

  const Reply granted = again.reply();
  EXPECT_EQ(granted.status, 200) << granted;
  EXPECT_EQ(acquire("cyd", "/a").status, 409);
}

TEST_F(Api, AQueuedRequestIsPolledAndCancelledByItsTicket) {
  serve();
  const Reply held = acquire("ann", "/a");
  const Reply queued = acquire("bob", "/a", R"(,"wait_ms":60000)");
  ASSERT_EQ(queued.status, 202) << queued;
  const std::string ticket = "/v1/tickets/" + std::string(queued.json().at("ticket").as_string());
  const std::string bob = R"({"agent_id":"bob","session_id":"s"})";

  EXPECT_EQ(ask("POST", ticket + "/poll", bob).status, 202);
  EXPECT_EQ(ask("POST", ticket + "/poll", R"({"agent_id":"cyd"})").status, 403);
  ask("DELETE", "/v1/leases/" + id_of(held) + "?agent_id=ann&session_id=s");
  EXPECT_EQ(ask("POST", ticket + "/poll?wait_ms=10000", bob).status, 200);
  EXPECT_EQ(ask("POST", ticket + "/cancel", bob).status, 204);
  EXPECT_EQ(ask("GET", "/v1/files?path=/a").json().at("locked"), false);
}

TEST_F(Api, ServesManyRequestsOnOneConnectionInTheirOrder) {
  serve();
  Line line(socket());
  std::string all;
  for (int i = 0; i < 50; ++i)
    all +=
        Line::request("POST", "/v1/leases", R"({"agent_id":"ann","paths":["/f)" + std::to_string(i) + "\"]}");

  line.say(all);

  for (int i = 0; i < 50; ++i) {
    const Reply reply = line.reply();
    ASSERT_EQ(reply.status, 201) << reply;
    EXPECT_EQ(std::string(reply.json().at("leases").at(0).at("path").as_string()), "/f" + std::to_string(i));
  }
}

TEST_F(Api, ListsPageByPage) {
  serve();
  for (int i = 0; i < 5; ++i) acquire("ann", "/f" + std::to_string(i));
  std::string paths;
  std::string cursor;
  int pages = 0;
  do {
    const auto page = ask("GET", "/v1/leases?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor)).json();
    for (const auto& row : page.at("leases").as_array()) paths += std::string(row.at("path").as_string());
    cursor = page.at("next_cursor").is_null() ? "" : std::string(page.at("next_cursor").as_string());
    std::ranges::replace(cursor, ' ', '+');
    ++pages;
  } while (!cursor.empty() && pages < 10);

  EXPECT_EQ(paths, "/f0/f1/f2/f3/f4");
  EXPECT_EQ(pages, 3);
}

TEST_F(Api, APageMissesNothingWhenTheLastRowOfTheOneBeforeIsGone) {
  serve();
  for (const char* agent : {"ann", "bob", "cyd"}) acquire(agent, "/one", R"(,"mode":"shared")");
  const auto page = ask("GET", "/v1/leases?limit=1").json();
  const std::string id(page.at("leases").at(0).at("id").as_string());
  ASSERT_EQ(ask("DELETE", "/v1/leases/" + id + "?agent_id=ann&session_id=s").status, 200);

  const auto next =
      ask("GET", "/v1/leases?limit=5&cursor=" + std::string(page.at("next_cursor").as_string())).json();

  EXPECT_EQ(next.at("leases").as_array().size(), 2u) << next;
}

TEST_F(Api, TheGateDeniesOnceHaltsAndIsInstructed) {
  serve({"--set", "gate_retry=1s"});
  acquire("ann", "/a");
  const std::string body = R"({"agent_id":"bob","session_id":"s2","paths":["/a"]})";

  const Reply first = ask("POST", "/v1/gate", body);
  ASSERT_EQ(first.code(), "retry_later") << first;
  EXPECT_EQ(first.status, 409);
  EXPECT_TRUE(first.headers.contains("retry-after"));
  ASSERT_TRUE(eventually([&] { return ask("POST", "/v1/gate", body).status == 423; }));
  const auto blockers = ask("GET", "/v1/blockers").json().at("blockers").as_array();
  ASSERT_EQ(blockers.size(), 1u);
  const std::string id(blockers[0].at("id").as_string());
  EXPECT_EQ(ask("POST", "/v1/blockers/" + id + "/instruction", R"({"instruction":"force","reason":"urgent"})")
                .status,
            200);

  EXPECT_EQ(ask("POST", "/v1/gate", body).json().at("decision"), "allowed");
}

TEST_F(Api, TellsWhatHappensAsItHappens) {
  serve();
  acquire("ann", "/a");
  Line line(socket());
  line.say(Line::request("GET", "/v1/events", {}, "Accept: text/event-stream\r\n"));
  EXPECT_NE(line.hear_until("\r\n\r\n").find("text/event-stream"), std::string::npos);
  const std::string first = line.hear_until("\n\n");
  EXPECT_NE(first.find("event: snapshot\n"), std::string::npos) << first;
  EXPECT_NE(first.find("\"path\":\"/a\""), std::string::npos) << first;

  acquire("bob", "/b", R"(,"trace":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")");

  const std::string next = line.hear_until("\n\n");
  EXPECT_NE(next.find("event: acquired\n"), std::string::npos) << next;
  EXPECT_NE(next.find("\"trace\":\"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\""),
            std::string::npos);
  const std::string id = next.substr(4, next.find('\n') - 4);

  acquire("cyd", "/c");
  Line again(socket());
  again.say(
      Line::request("GET", "/v1/events", {}, "Accept: text/event-stream\r\nLast-Event-ID: " + id + "\r\n"));
  again.hear_until("\r\n\r\n");
  const std::string resumed = again.hear_until("\n\n");
  EXPECT_NE(resumed.find("event: acquired\n"), std::string::npos) << resumed;
  EXPECT_NE(resumed.find("\"path\":\"/c\""), std::string::npos) << resumed;

  for (const char* wrong : {"12abc", "1.5", "-1"})
    EXPECT_EQ(ask("GET", "/v1/events", {},
                  std::string("Accept: text/event-stream\r\nLast-Event-ID: ") + wrong + "\r\n")
                  .status,
              400)
        << wrong;

  Line lost(socket());
  lost.say(
      Line::request("GET", "/v1/events", {}, "Accept: text/event-stream\r\nLast-Event-ID: 999999999\r\n"));
  lost.hear_until("\r\n\r\n");
  EXPECT_NE(lost.hear_until("\n\n").find("event: snapshot\n"), std::string::npos);
}

TEST_F(Api, AClientOfHttp10IsToldThatItsConnectionIsKept) {
  serve();
  Line line(socket());
  for (int i = 0; i < 2; ++i) {
    line.say("GET /healthz HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
    const Reply kept = line.reply();
    ASSERT_EQ(kept.status, 200) << kept;
    EXPECT_EQ(kept.headers.at("connection"), "keep-alive");
  }
}

TEST_F(Api, ATraceparentThatIsNoneIsPassedOver) {
  serve();
  const std::string good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  int number = 0;
  const auto trace = [&](const std::string& header) {
    const std::string path = "/" + std::to_string(++number);
    const Reply granted = ask("POST", "/v1/leases", R"({"agent_id":"ann","paths":[")" + path + "\"]}",
                              "traceparent: " + header + "\r\n");
    EXPECT_EQ(granted.status, 201) << granted;
    const auto event = ask("GET", "/v1/history?path=" + path).json().at("events").at(0).as_object();
    return event.contains("trace") ? std::string(event.at("trace").as_string()) : "";
  };

  EXPECT_EQ(trace(good), good);
  for (const std::string& wrong : {std::string("garbage"), "ff" + good.substr(2), good + "-00",
                                   std::string(5'000, 'a'), "0g" + good.substr(2)})
    EXPECT_EQ(trace(wrong), "") << wrong;
}

TEST_F(Api, AClientThatAsksFirstIsToldToGoOn) {
  serve();
  const std::string body = R"({"agent_id":"ann","session_id":"s","paths":["/a"]})";
  Line line(socket());
  line.say("POST /v1/leases HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_EQ(line.reply().status, 100);
  line.say(body);
  EXPECT_EQ(line.reply().status, 201);
}

TEST_F(Api, ABusyRoomRefusesUntilItIsFree) {
  serve();

  EXPECT_EQ(ask("PUT", "/v1/rooms/r1/busy").status, 204);
  EXPECT_EQ(acquire("ann", "/a", R"(,"room":"r1")").code(), "busy");
  EXPECT_EQ(ask("DELETE", "/v1/rooms/r1/busy").status, 204);
  EXPECT_EQ(acquire("ann", "/a", R"(,"room":"r1")").status, 201);
}

TEST_F(Api, SaysWhatItDoesNotKnow) {
  serve();

  EXPECT_EQ(ask("GET", "/nowhere").status, 404);
  const Reply wrong = ask("PUT", "/v1/leases", "{}");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("allow"), "POST, GET, HEAD");
  EXPECT_EQ(ask("POST", "/v1/leases", "{").status, 400);
  EXPECT_EQ(ask("POST", "/v1/leases", R"({"agent_id":"ann","pats":["/a"]})").code(), "invalid_argument");
  EXPECT_EQ(ask("GET", "/v1/leases/%zz").status, 400);
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_EQ(ask("GET", "/readyz").status, 200);
  EXPECT_EQ(ask("DELETE", "/healthz").headers.at("allow"), "GET, HEAD");
}

TEST_F(Api, NamesWhatIsMissingOrWrong) {
  serve();
  const auto said = [](const Reply& reply) { return std::string(reply.json().at("detail").as_string()); };

  EXPECT_TRUE(said(ask("POST", "/v1/leases", R"({"paths":["/a"]})")).starts_with("agent_id is missing"));
  EXPECT_TRUE(said(ask("POST", "/v1/leases/transfer", R"({"agent_id":"ann","which":{"all":true}})"))
                  .starts_with("to.agent_id is missing"));
  EXPECT_EQ(said(ask("POST", "/v1/leases", R"({"agent_id":"ann","paths":["/a"],"mode":"foo"})")),
            "mode has to be exclusive or shared.");
  const Reply unknown = ask("GET", "/v1/leases?agent=bob");
  EXPECT_EQ(unknown.status, 400) << unknown;
  EXPECT_TRUE(contains(said(unknown), "agent_id")) << unknown;
  EXPECT_EQ(ask("GET", "/v1/history?oldest=maybe").status, 400);
  EXPECT_EQ(ask("GET", "/v1/history?oldest=true").status, 200);
}

TEST_F(Api, ALfsPageOfNothingIsAWholeOne) {
  serve();
  for (const char* lock : {R"({"path":"a"})", R"({"path":"b"})"})
    ASSERT_EQ(ask("POST", "/lfs/w/locks", lock).status, 201);

  EXPECT_TRUE(ask("GET", "/lfs/w/locks?limit=1").json().at("next_cursor").as_string().starts_with("/a|"));
  const Reply all = ask("GET", "/lfs/w/locks?limit=0");
  EXPECT_EQ(all.json().at("locks").as_array().size(), 2U) << all;
  EXPECT_FALSE(all.json().contains("next_cursor")) << all;
}

}  // namespace
}  // namespace leasehold
