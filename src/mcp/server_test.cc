#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <thread>

#include "mcp/test_agent.h"
#include "support/store_client.h"
#include "support/temp_folder.h"

namespace leasehold::mcp {
namespace {

using namespace std::chrono_literals;

class McpServer : public testing::Test {
 protected:
  McpServer() { std::filesystem::create_directories(folder_.path() + "/src"); }

  bool has_store() const { return std::filesystem::exists(folder_.path() + "/.leasehold"); }

  TempFolder folder_;
  Agent ann_{folder_.path()};
};

TEST_F(McpServer, ServesTheModernEraWithoutAHandshake) {
  const json::object found = ann_.ask_modern("server/discover");

  const json::object& result = found.at("result").as_object();
  EXPECT_EQ(result.at("resultType"), "complete");
  EXPECT_EQ(result.at("supportedVersions").at(0), "2026-07-28");
  EXPECT_TRUE(result.at("ttlMs").is_int64());
  EXPECT_EQ(result.at("cacheScope"), "public");
  EXPECT_EQ(result.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name"), "lease");
}

TEST_F(McpServer, ServesTheLegacyEraAfterItsHandshake) {
  const char* const list = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  EXPECT_EQ(code_of(ann_.ask(list)), kInvalidParams);

  const json::object greeted =
      ann_.ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
               R"("capabilities":{},"clientInfo":{"name":"x","version":"1"}}})");
  const json::object listed = ann_.ask(list);

  EXPECT_EQ(greeted.at("result").at("protocolVersion"), "2025-06-18");
  EXPECT_EQ(listed.at("result").at("tools").as_array().size(), 6);
  EXPECT_FALSE(listed.at("result").as_object().contains("resultType"));
  EXPECT_TRUE(ann_.ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})").at("result").as_object().empty());
}

TEST_F(McpServer, AnswersAnUnknownVersionWithTheNewestOfItsEra) {
  const json::object greeted = ann_.ask(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}})");

  EXPECT_EQ(greeted.at("result").at("protocolVersion"), "2025-11-25");
}

TEST_F(McpServer, RefusesAModernVersionItDoesNotKnowAndNamesThoseItDoes) {
  const json::object answer = ann_.ask(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)"
      R"("io.modelcontextprotocol/protocolVersion":"2030-01-01","io.modelcontextprotocol/clientCapabilities":{}}}})");

  EXPECT_EQ(code_of(answer), kUnsupportedVersion);
  EXPECT_EQ(answer.at("error").at("data").at("requested"), "2030-01-01");
  EXPECT_EQ(answer.at("error").at("data").at("supported").at(0), "2026-07-28");
}

TEST_F(McpServer, AModernRequestHasToSayWhatItsClientCan) {
  const json::object answer = ann_.ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)"
                                       R"("io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");

  EXPECT_EQ(code_of(answer), kInvalidParams);
}

TEST_F(McpServer, ProtocolErrorsAreNoResults) {
  EXPECT_EQ(code_of(ann_.ask_modern("no/such")), kMethodNotFound);
  EXPECT_EQ(code_of(ann_.ask_modern("ping")), kMethodNotFound);
  EXPECT_EQ(code_of(ann_.ask_modern("tools/call", R"("name":"nothing")")), kInvalidParams);
  EXPECT_EQ(code_of(ann_.ask_modern("resources/read", R"("uri":"lease://nothing")")), kInvalidParams);
}

// Tools are in every conversation of every agent. Four characters are about one token.
TEST_F(McpServer, ToolsStayWithinTheirFootprint) {
  const json::object listed = ann_.ask_modern("tools/list");

  EXPECT_LT(json::serialize(listed.at("result").at("tools")).size() / 4, 1500);
}

TEST_F(McpServer, LookingMakesNoStore) {
  EXPECT_TRUE(document(ann_.call("lease_status")).at("leases").as_array().empty());
  EXPECT_TRUE(document(ann_.call("lease_history")).at("events").as_array().empty());
  EXPECT_EQ(document(ann_.call("lease_gate", R"({"paths":["src/a.ts"]})")).at("decision"), "allowed");
  EXPECT_EQ(refusal(ann_.call("lease_release", R"({"all":true})")), "");

  EXPECT_FALSE(has_store());
}

TEST_F(McpServer, GrantsAndSaysWhoHolds) {
  const json::object granted = ann_.call("lease_acquire", R"({"paths":["src/a.ts"],"reason":"rename"})");

  ASSERT_EQ(refusal(granted), "");
  EXPECT_EQ(document(granted).at("decision"), "granted");
  EXPECT_EQ(document(granted).at("leases").at(0).at("path"), "/src/a.ts");
  EXPECT_EQ(std::string(granted.at("content").at(0).at("text").as_string()),
            json::serialize(granted.at("structuredContent")));
  const json::object board = ann_.call("lease_status", R"({"paths":["src/a.ts","src/b.ts"]})");
  EXPECT_EQ(document(board).at("you").at("agent_id"), "ann");
  EXPECT_EQ(document(board).at("paths").at(0).at("state"), "yours");
  EXPECT_EQ(document(board).at("paths").at(1).at("state"), "free");
}

TEST_F(McpServer, ARefusalHasTheEvidenceAndTheCallThatWaits) {
  Agent bob(folder_.path(), "s2");
  ASSERT_EQ(refusal(ann_.call("lease_acquire", R"({"paths":["src/a.ts"]})")), "");

  const json::object refused = bob.call("lease_acquire", R"({"paths":["src/a.ts"]})");

  EXPECT_EQ(refusal(refused), "busy");
  EXPECT_EQ(document(refused).at("blocked").at(0).at("session_id"), "s1");
  EXPECT_EQ(document(refused).at("next").at("tool"), "lease_acquire");
  EXPECT_TRUE(document(refused).at("next").at("arguments").as_object().contains("wait_seconds"));
  EXPECT_EQ(document(bob.call("lease_status", R"({"paths":["src/a.ts"]})")).at("paths").at(0).at("state"),
            "held");
}

TEST_F(McpServer, WrongArgumentsAreTheToolsAnswer) {
  for (const char* wrong : {"[]", "1", R"({"paths":"a"})", R"({"paths":[1]})", R"({"paths":[]})",
                            R"({"paths":["a"],"mode":"both"})", R"({"paths":["a"],"wait_seconds":-1})",
                            R"({"paths":["a"],"wait_seconds":1e99})", R"({"paths":["a"],"unknown":1})"}) {
    EXPECT_EQ(refusal(ann_.call("lease_acquire", wrong)), "invalid_argument") << wrong;
  }
  EXPECT_EQ(refusal(ann_.call("lease_acquire", R"({"paths":["../../etc/passwd"]})")), "invalid_path");
  ann_.call("lease_acquire", R"({"paths":["a"]})");
  EXPECT_EQ(refusal(ann_.call("lease_release", R"({"paths":["a"],"all":true})")), "invalid_argument");
  EXPECT_EQ(refusal(ann_.call("lease_history", R"({"limit":0})")), "invalid_argument");
}

TEST_F(McpServer, ReleasesAndHandsOver) {
  Agent bob(folder_.path(), "s2");
  ann_.call("lease_acquire", R"({"paths":["a","b"]})");

  EXPECT_EQ(refusal(ann_.call("lease_release", R"({"paths":["a"]})")), "");
  EXPECT_EQ(refusal(ann_.call("lease_transfer", R"({"to":"ann","to_session":"s2","paths":["b"]})")), "");

  EXPECT_EQ(document(bob.call("lease_status", R"({"paths":["a","b"]})")).at("paths").at(0).at("state"),
            "free");
  EXPECT_EQ(document(bob.call("lease_status", R"({"paths":["a","b"]})")).at("paths").at(1).at("state"),
            "yours");
  EXPECT_FALSE(document(ann_.call("lease_history", R"({"path":"b"})")).at("events").as_array().empty());
}

// Answers name files by their keys. "/tmp" is a folder of the machine, too.
TEST_F(McpServer, WithoutASessionLeasesGoToTheOnlyOneThatTheAgentHas) {
  Agent one(folder_.path(), "", "mcp-1");
  Agent two(folder_.path(), "", "mcp-2");
  Agent three(folder_.path(), "", "mcp-3");
  const char* const handed = R"({"to":"ann","paths":["a"]})";
  one.call("lease_acquire", R"({"paths":["a"]})");
  EXPECT_EQ(refusal(one.call("lease_transfer", handed)), "invalid_argument");

  two.call("lease_acquire", R"({"paths":["b"]})");
  EXPECT_EQ(refusal(one.call("lease_transfer", handed)), "");

  const json::object board = two.call("lease_status", R"({"paths":["a"]})");
  EXPECT_EQ(document(board).at("leases").at(0).at("session_id"), "mcp-2");
  EXPECT_TRUE(document(board).at("leases").at(0).as_object().contains("process"));

  one.call("lease_acquire", R"({"paths":["c"]})");
  const json::object refused = three.call("lease_transfer", R"({"to":"ann","all":true})");
  EXPECT_EQ(refusal(refused), "invalid_argument");
  const std::string message(document(refused).at("error").at("message").as_string());
  EXPECT_NE(message.find("mcp-1, mcp-2"), std::string::npos) << message;
}

TEST_F(McpServer, ASubagentHasTheSessionOfItsHost) {
  Agent elsewhere(folder_.path(), "s2");
  elsewhere.call("lease_acquire", R"({"paths":["b"]})");
  ann_.call("lease_acquire", R"({"paths":["a"]})");

  EXPECT_EQ(refusal(ann_.call("lease_transfer", R"({"to":"helper","paths":["a"]})")), "");

  const json::object board = ann_.call("lease_status", R"({"paths":["a"]})");
  EXPECT_EQ(document(board).at("leases").at(0).at("agent_id"), "helper");
  EXPECT_EQ(document(board).at("leases").at(0).at("session_id"), "s1");
}

TEST_F(McpServer, WhatWasHandedOverHangsOnItsReceiverOnceThatOneAsks) {
  for (const char* tool : {"lease_acquire", "lease_gate"}) {
    Agent bob(folder_.path(), "s2");
    ann_.call("lease_acquire", R"({"paths":["a"]})");
    ann_.call("lease_transfer", R"({"to":"ann","to_session":"s2","paths":["a"]})");
    const auto row = [&] {
      const json::object board = ann_.call("lease_status", R"({"paths":["a"]})");
      const json::array& rows = document(board).at("leases").as_array();
      return rows.empty() ? json::object() : rows.at(0).as_object();
    };
    ASSERT_EQ(row().at("session_id"), "s2");
    EXPECT_FALSE(row().contains("process"));

    bob.call(tool, R"({"paths":["a"]})");
    EXPECT_TRUE(row().contains("process")) << tool;

    bob.desk().end();
    EXPECT_TRUE(row().empty()) << tool;
  }
}

TEST_F(McpServer, ALeaseForACertainTimeIsNotMadeLongerByTheGate) {
  std::ofstream(folder_.path() + "/src/t.ts").close();
  const auto ends = [&](const char* path) {
    const json::object board =
        ann_.ask_modern("resources/read", R"("uri":"lease://file/)" + std::string(path) + '"');
    const json::value row =
        json::parse(board.at("result").at("contents").at(0).at("text").as_string()).at("leases").at(0);
    return std::pair(row.at("attended").as_bool(), row.at("expires_at_ms").to_number<std::int64_t>());
  };
  ann_.call("lease_acquire", R"({"paths":["src/t.ts"],"ttl_seconds":600})");
  ann_.call("lease_acquire", R"({"paths":["a"]})");
  const auto before = ends("src/t.ts");
  EXPECT_FALSE(before.first);

  const json::object alone = ann_.call("lease_gate", R"({"paths":["src/t.ts"]})");
  const json::object both = ann_.call("lease_gate", R"({"paths":["src/t.ts","a"]})");

  EXPECT_EQ(document(alone).at("decision"), "allowed");
  EXPECT_EQ(document(alone).at("leases").at(0).at("path"), "/src/t.ts");
  EXPECT_EQ(document(both).at("decision"), "allowed");
  EXPECT_EQ(ends("src/t.ts"), before);

  ann_.call("lease_acquire", R"({"paths":["src/t.ts"]})");
  EXPECT_TRUE(ends("src/t.ts").first);
}

TEST_F(McpServer, AFileIsHeldWhomeverTheBoardIsAskedAbout) {
  Agent bob(folder_.path(), "s2");
  ann_.call("lease_acquire", R"({"paths":["a"]})");

  const json::object board = bob.call("lease_status", R"({"paths":["a"],"agent":"carl"})");

  EXPECT_TRUE(document(board).at("leases").as_array().empty());
  EXPECT_EQ(document(board).at("paths").at(0).at("state"), "held");
}

TEST_F(McpServer, PathsAreTheSameBeforeThereIsAStore) {
  const char* const fine = R"({"paths":["src/../src/a.ts"]})";
  const char* const outside = R"({"paths":["../../etc/passwd"]})";
  const char* const none = R"({"paths":[""]})";
  for (const bool has_store : {false, true}) {
    if (has_store) ann_.call("lease_acquire", R"({"paths":["b"]})");
    EXPECT_EQ(document(ann_.call("lease_status", fine)).at("paths").at(0).at("path"), "/src/a.ts");
    EXPECT_EQ(refusal(ann_.call("lease_status", outside)), "invalid_path");
    EXPECT_EQ(refusal(ann_.call("lease_status", none)), "invalid_path");
    EXPECT_EQ(code_of(ann_.ask_modern("resources/read", R"("uri":"lease://file/../../etc/passwd")")),
              kInvalidParams);
  }
}

TEST_F(McpServer, MessagesNameToolsAndNotCommands) {
  std::ofstream(folder_.path() + "/.leasehold.toml").close();
  Agent bob(folder_.path(), "s2");
  ann_.call("lease_acquire", R"({"paths":["a"],"reason":"refactoring"})");
  for (const json::object& answer : {
           bob.call("lease_release", R"({"paths":["a"]})"),
           bob.call("lease_release", R"({"ids":["nothing"]})"),
           bob.call("lease_transfer", R"({"paths":["a"],"to":"x"})"),
           bob.call("lease_gate", R"({"paths":["a"]})"),
           bob.call("lease_acquire", R"({"paths":["*.ts"]})"),
       }) {
    ASSERT_TRUE(answer.at("isError").as_bool());
    const std::string text(answer.at("content").at(0).at("text").as_string());
    EXPECT_EQ(text.find("lease acquire"), std::string::npos) << text;
    EXPECT_EQ(text.find("lease release"), std::string::npos) << text;
    EXPECT_EQ(text.find("--"), std::string::npos) << text;
    EXPECT_EQ(text.find("lease status"), std::string::npos) << text;
  }
}

TEST_F(McpServer, WhatAnAnswerSaysCanBeGivenBack) {
  Agent bob(folder_.path(), "s2");
  for (const std::string path : {"no-such-folder/x.c", "x.c", "tmp/x.c"}) {
    const json::object granted = ann_.call("lease_acquire", R"({"paths":[")" + path + R"("]})");
    const std::string said(document(granted).at("leases").at(0).at("path").as_string());
    const std::string argument = R"({"paths":[")" + said + R"("]})";
    const auto state = [&](Agent& agent) {
      return document(agent.call("lease_status", argument)).at("paths").at(0).at("state");
    };

    EXPECT_EQ(document(bob.call("lease_gate", argument)).at("decision"), "denied") << said;
    EXPECT_EQ(refusal(bob.call("lease_acquire", argument)), "busy") << said;
    EXPECT_EQ(state(bob), "held") << said;
    const json::object read = bob.ask_modern("resources/read", R"("uri":"lease://file/)" + said + '"');
    EXPECT_EQ(json::parse(read.at("result").at("contents").at(0).at("text").as_string())
                  .at("leases")
                  .as_array()
                  .size(),
              1)
        << said;
    EXPECT_EQ(refusal(ann_.call("lease_release", argument)), "") << said;
    EXPECT_EQ(state(ann_), "free") << said;
  }
}

TEST_F(McpServer, TheGateSaysWhatItDidNotCheck) {
  const std::string outside = std::filesystem::temp_directory_path() / "elsewhere.c";
  const std::string argument = R"({"paths":[")" + outside + R"(","a"]})";
  EXPECT_TRUE(document(ann_.call("lease_gate", argument)).contains("message"));
  ann_.call("lease_acquire", R"({"paths":["a"]})");

  const json::object allowed = ann_.call("lease_gate", argument);

  EXPECT_EQ(document(allowed).at("decision"), "allowed");
  const std::string message(document(allowed).at("message").as_string());
  EXPECT_NE(message.find(outside), std::string::npos) << message;
}

TEST_F(McpServer, TheGateDeniesOnceAndSaysWhenToTryAgain) {
  std::ofstream(folder_.path() + "/.leasehold.toml").close();
  Agent bob(folder_.path(), "s2");
  const json::object first = ann_.call("lease_gate", R"({"paths":["src/a.ts"]})");
  EXPECT_EQ(document(first).at("decision"), "granted");

  const json::object denied = bob.call("lease_gate", R"({"paths":["src/a.ts"]})");

  EXPECT_TRUE(denied.at("isError").as_bool());
  EXPECT_EQ(document(denied).at("decision"), "denied");
  EXPECT_EQ(document(denied).at("code"), "retry_later");
  EXPECT_TRUE(document(denied).contains("retry_at"));
}

TEST_F(McpServer, EndingGivesBackWhatTheServerGotAndNothingElse) {
  Agent other(folder_.path());  // Another server of the same session.
  other.call("lease_acquire", R"({"paths":["b"]})");
  ann_.call("lease_acquire", R"({"paths":["a"]})");

  ann_.desk().end();

  const json::object board = other.call("lease_status", R"({"paths":["a","b"]})");
  EXPECT_EQ(document(board).at("paths").at(0).at("state"), "free");
  EXPECT_EQ(document(board).at("paths").at(1).at("state"), "yours");
}

TEST_F(McpServer, WhatIsCancelledAfterItsGrantGoesBack) {
  ann_.call("lease_acquire", R"({"paths":["a"]})", 6);
  ann_.call("lease_acquire", R"({"paths":["a","b"]})", 7);

  ann_.server().give_back(7);

  const json::object board = ann_.call("lease_status", R"({"paths":["a","b"]})");
  EXPECT_EQ(document(board).at("paths").at(0).at("state"), "yours");
  EXPECT_EQ(document(board).at("paths").at(1).at("state"), "free");
}

TEST_F(McpServer, WhatAnotherAnswerTellsOfStaysUntilThatIsCancelledToo) {
  ann_.call("lease_acquire", R"({"paths":["a"]})", 6);
  ann_.call("lease_acquire", R"({"paths":["a"]})", 7);
  const auto state = [&] {
    const json::object board = ann_.call("lease_status", R"({"paths":["a"]})");
    return std::string(document(board).at("paths").at(0).at("state").as_string());
  };

  ann_.server().give_back(6);
  EXPECT_EQ(state(), "yours");
  ann_.server().give_back(7);
  EXPECT_EQ(state(), "free");
}

// Who waits is ahead of everybody but the one who has it.
TEST_F(McpServer, WhatIsWaitedForIsStillItsHolders) {
  ann_.call("lease_acquire", R"({"paths":["d/a"]})");
  Agent bob(folder_.path(), "s2");
  Nudge cancelled;
  std::thread waits([&] {
    bob.ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lease_acquire",)"
            R"("arguments":{"paths":["d/a"],"wait_seconds":600},)" +
                std::string(kModernMeta) + "}}",
            cancelled.fd());
  });
  const auto rows = [&] { return document(ann_.call("lease_status")).at("leases").as_array().size(); };
  const auto state = [&](const std::string& path) {
    const json::object board = ann_.call("lease_status", R"({"paths":[")" + path + R"("]})");
    return std::string(document(board).at("paths").at(0).at("state").as_string());
  };
  EXPECT_TRUE(eventually([&] { return rows() >= 2; }));

  EXPECT_EQ(state("d/a"), "yours");
  EXPECT_EQ(state("d"), "held") << "not all of it is hers";
  cancelled.give();
  waits.join();
  EXPECT_EQ(state("d"), "free") << "for her";
}

TEST_F(McpServer, AWaitThatIsCancelledLeavesNothingQueued) {
  Agent bob(folder_.path(), "s2");
  ann_.call("lease_acquire", R"({"paths":["a"]})");
  Nudge cancelled;
  cancelled.give();

  bob.ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lease_acquire",)"
          R"("arguments":{"paths":["a"],"wait_seconds":600},)" +
              std::string(kModernMeta) + "}}",
          cancelled.fd());

  EXPECT_EQ(document(ann_.call("lease_status")).at("leases").as_array().size(), 1);
}

TEST_F(McpServer, AWaitReportsItsProgress) {
  Agent bob(folder_.path(), "s2");
  ann_.call("lease_acquire", R"({"paths":["a"]})");
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<json::object> told;
  Nudge cancelled;
  std::string meta(kModernMeta);
  meta.insert(meta.size() - 1, R"(,"progressToken":"p")");

  std::jthread waiting([&] {
    bob.ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lease_acquire",)"
            R"("arguments":{"paths":["a"],"wait_seconds":600},)" +
                meta + "}}",
            cancelled.fd(), [&](json::object notice) {
              const std::lock_guard lock(mutex);
              told.push_back(std::move(notice));
              changed.notify_all();
            });
  });
  {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, 60s, [&] { return told.size() >= 2; }));
  }
  cancelled.give();
  waiting.join();

  ASSERT_GE(told.size(), 2);
  EXPECT_EQ(told[0].at("method"), "notifications/progress");
  EXPECT_EQ(told[0].at("params").at("progressToken"), "p");
  EXPECT_LT(told[0].at("params").at("progress").to_number<double>(),
            told[1].at("params").at("progress").to_number<double>());
}

TEST_F(McpServer, TheBoardAndAFileCanBeRead) {
  ann_.call("lease_acquire", R"({"paths":["src/a b.ts"]})");
  const auto leases_at = [&](const std::string& uri) {
    const json::object answer = ann_.ask_modern("resources/read", R"("uri":")" + uri + '"');
    const json::value text = answer.at("result").at("contents").at(0).at("text");
    return json::parse(text.as_string()).at("leases").as_array().size();
  };

  EXPECT_EQ(leases_at("lease://board"), 1);
  EXPECT_EQ(leases_at("lease://file/src/a%20b.ts"), 1);
  EXPECT_EQ(leases_at("lease://file/src/c.ts"), 0);
  EXPECT_EQ(code_of(ann_.ask_modern("resources/read", R"("uri":"lease://file/%zz")")), kInvalidParams);
}

// In the years with a handshake.
class Follower {
 public:
  explicit Follower(const std::string& place) : agent_(place, "s2") {
    agent_.ask(
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})");
  }

  json::object subscribe(const std::string& uri) {
    return agent_.ask(
        R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":")" + uri + R"("}})", -1,
        [this](const json::object& notice) {
          const std::lock_guard lock(mutex_);
          told_.emplace_back(notice.at("params").at("uri").as_string());
          changed_.notify_all();
        });
  }

  // What it is told next; empty: nothing.
  std::string next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 30s, [&] { return !told_.empty(); })) return "";
    std::string first = std::move(told_.front());
    told_.erase(told_.begin());
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
  Agent agent_;  // Last: it tells until it is gone.
};

TEST_F(McpServer, ASubscriberIsToldWhatChangesEvenBeforeThereIsAStore) {
  Follower bob(folder_.path());
  bob.subscribe("lease://file/src/a.ts");

  ann_.call("lease_acquire", R"({"paths":["src/b.ts"]})");
  ann_.call("lease_acquire", R"({"paths":["src/a.ts"]})");

  EXPECT_EQ(bob.next(), "lease://file/src/a.ts");
}

TEST_F(McpServer, WhoSubscribesLaterIsToldOfTheFirstChange) {
  Follower bob(folder_.path());
  ann_.call("lease_acquire", R"({"paths":["c"]})");
  bob.subscribe("lease://file/a");
  ann_.call("lease_acquire", R"({"paths":["a"]})");
  ASSERT_EQ(bob.next(), "lease://file/a");

  bob.subscribe("lease://file//b");
  ann_.call("lease_acquire", R"({"paths":["b"]})");

  EXPECT_EQ(bob.next(), "lease://file//b");
}

// Nobody wants the file, so nobody records that its time is over.
TEST_F(McpServer, ASubscriberIsToldThatALeaseRanOut) {
  Follower bob(folder_.path());
  ann_.call("lease_acquire", R"({"paths":["a"],"ttl_seconds":1})");
  ann_.call("lease_acquire", R"({"paths":["b"]})");
  bob.subscribe("lease://file/b");
  bob.subscribe("lease://file/a");

  EXPECT_EQ(bob.next(), "lease://file/a");
}

TEST_F(McpServer, OnlyWhatCanBeReadCanBeFollowed) {
  Follower bob(folder_.path());

  EXPECT_EQ(code_of(bob.subscribe("lease://file/../../etc/passwd")), kResourceNotFound);
  EXPECT_EQ(code_of(bob.subscribe("lease://file/a")), 0);
}

TEST(McpPeer, HostsAreKnownByTheNameOfTheirHooks) {
  EXPECT_EQ(agent_of({{"name", "codex-mcp-client"}}), "codex");
  EXPECT_EQ(agent_of({{"name", "gemini-cli-mcp-client"}}), "gemini");
  EXPECT_EQ(agent_of({{"name", "My Editor\n"}}), "My-Editor-");
  EXPECT_EQ(agent_of({{"name", 7}}), "");
}

TEST(McpPeer, CodexTellsItsSessionWithEachCall) {
  EXPECT_EQ(peer_of("codex", {{"x-codex-turn-metadata", {{"session_id", "s"}}}}).session_id, "s");
  EXPECT_EQ(peer_of("codex", {{"x-codex-turn-metadata", R"({"session_id":"s"})"}}).session_id, "s");
  EXPECT_EQ(peer_of("codex", {{"x-codex-turn-metadata", "{"}}).session_id, "");
}

}  // namespace
}  // namespace leasehold::mcp
