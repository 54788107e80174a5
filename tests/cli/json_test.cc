// Documents are stable: programs read them.
#include <gtest/gtest.h>

#include "scene.h"
#include "support/redis_server.h"

namespace leasehold {
namespace {

using Json = Scene;

// What differs from run to run, by a word for its kind.
std::string golden(const std::string& text) {
  std::string result = text;
  for (const auto& [pattern, with] : std::initializer_list<std::pair<const char*, const char*>>{
           {"\"[0-9a-f]{8}-[0-9a-f-]{27}\"", "\"ID\""},
           {"\"2[0-9]{3}-[0-9T:.-]+Z\"", "\"TIME\""},
           {"(_ms\":)[0-9]{13}", "$1MS"},
           {"\"token\":[0-9]+", "\"token\":TOKEN"},
           {"\"(workspace|host)\":\"[^\"]*\"", "\"$1\":\"X\""}}) {
    result = std::regex_replace(result, std::regex(pattern), with);
  }
  return result;
}

constexpr const char* kLease =
    R"({"id":"ID","workspace":"X","path":"/docs/x.md","subtree":false,"mode":"exclusive","status":"active",)"
    R"("token":TOKEN,"ended_by":null,"agent_id":"ann","session_id":"s-ann","pr_id":"","host":"X","process":null,)"
    R"("created_at":"TIME","created_at_ms":MS,"acquired_at":"TIME","acquired_at_ms":MS,"expires_at":"TIME",)"
    R"("expires_at_ms":MS,"last_heartbeat_at":"TIME","last_heartbeat_at_ms":MS,"updated_at":"TIME",)"
    R"("updated_at_ms":MS,"idle_at":null,"idle_at_ms":null,"recalled_at":null,"recalled_at_ms":null,)"
    R"("ttl_ms":300000,"renewal_count":0,"max_renewals":-1,"group_id":"ID","room":"","reason":"r","trace":"",)"
    R"("requested":true,"paired_with":[],"pairs":[],"rule":"","attended":false)";

TEST_F(Json, OfAGrant) {
  EXPECT_EQ(golden(as("ann", {"acquire", "docs/x.md", "--reason", "r", "--json"}).out),
            std::string(R"({"decision":"granted","group_id":"ID","leases":[)") + kLease +
                R"(}],"ttl_clamped":false,"replayed":false,"waited_ms":0,"notices":[]})" + "\n");
}

// Documents tell times, for which the store is asked once more. What was done is told if it cannot be.
TEST_F(Json, OfWhatWasDoneWhenTheStoreCannotBeAskedAnyMore) {
  const RedisServer server;
  const auto in_redis = [&](std::vector<std::string> words) {
    for (const char* word : {"--json", "--store"}) words.emplace_back(word);
    words.push_back(server.url());
    return as("ann", words);
  };
  ASSERT_EQ(in_redis({"acquire", "docs/x.md"}).exit, 0);
  const std::string format = server.call({"KEYS", "*lease:format"});
  const std::string waiting = format.substr(0, format.rfind(':')) + ":waiting";
  ASSERT_EQ(server.call({"SET", waiting, "of another type"}), "OK");
  ASSERT_EQ(in_redis({"status", "docs/x.md"}).exit, 74);

  const Ran granted = in_redis({"acquire", "docs/y.md"});
  EXPECT_EQ(granted.exit, 0);
  EXPECT_TRUE(contains(granted.out, R"("decision":"granted")")) << granted.out;
  const Ran released = in_redis({"release", "docs/y.md"});
  EXPECT_EQ(released.exit, 0);
  EXPECT_TRUE(contains(released.out, R"("path":"/docs/y.md")")) << released.out;
}

TEST_F(Json, OfTheBoard) {
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md", "--reason", "r"}).exit, 0);

  EXPECT_EQ(golden(as("bob", {"status", "--json"}).out),
            std::string(R"({"at":"TIME","at_ms":MS,"leases":[)") + kLease +
                R"(,"verdict":{"liveness":"unknown","evidence":"no process to watch; only its time counts"},)"
                R"("live":true}]})" +
                "\n");
}

TEST_F(Json, OfARefusal) {
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);

  const Ran ran = as("bob", {"acquire", "docs/x.md", "--json"});

  EXPECT_EQ(ran.exit, 75);
  EXPECT_EQ(ran.err, "");
  const auto document = boost::json::parse(ran.out).as_object();
  EXPECT_EQ(document.at("decision"), "refused");
  EXPECT_EQ(document.at("error").at("code"), "busy");
  EXPECT_EQ(document.at("error").at("exit_code"), 75);
  EXPECT_EQ(document.at("blocked").at(0).at("agent_id"), "ann");
  EXPECT_EQ(document.at("blocked").at(0).at("verdict").at("liveness"), "unknown");
}

TEST_F(Json, OfErrors) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"acquire", "--json"},
                                             {"acquire", "--json", "--wat"},
                                             {"nothing", "--json"},
                                             {"acquire", "--json", "/etc/passwd"}}) {
    const Ran ran = as("ann", arguments);
    EXPECT_EQ(ran.exit, 64);
    EXPECT_EQ(ran.err, "");
    const auto document = boost::json::parse(ran.out).as_object();
    EXPECT_EQ(document.at("error").at("exit_code"), 64) << ran.out;
  }
}

TEST_F(Json, OfALeaseIsTheSameWhereverItAppears) {
  const auto granted = json("ann", {"acquire", "docs/x.md"}).at("leases").at(0).as_object();
  const auto listed = json("bob", {"ls"}).at("leases").at(0).as_object();

  for (const auto& [name, value] : granted) EXPECT_TRUE(listed.contains(name)) << name;
  EXPECT_EQ(listed.size(), granted.size());
}

TEST_F(Json, OfAnEventAboutManyNamesNoneOfThem) {
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md", "src/b.ts"}).exit, 0);
  ASSERT_EQ(as("ann", {"renew", "--all"}).exit, 0);

  const auto renewed = json("bob", {"history"}).at("events").as_array().back().as_object();

  EXPECT_EQ(renewed.at("type"), "renewed");
  EXPECT_EQ(renewed.at("count"), 2);
  for (const char* name : {"lease_id", "group_id", "path", "subtree", "mode", "token"})
    EXPECT_TRUE(renewed.at(name).is_null()) << name;
}

TEST_F(Json, OfAnEvent) {
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md", "--reason", "r"}).exit, 0);

  EXPECT_EQ(
      golden(as("bob", {"history", "--json"}).out),
      R"({"events":[{"sequence":1,"type":"acquired","at":"TIME","at_ms":MS,"lease_id":"ID","group_id":"ID",)"
      R"("agent_id":"ann","session_id":"s-ann","pr_id":"","path":"/docs/x.md","subtree":false,)"
      R"("mode":"exclusive","token":TOKEN,"status_before":null,"status_after":"active","cause":null,)"
      R"("renewal_count":0,"count":1,"actor":"","reason":"r","trace":""}]})"
      "\n");
}

TEST_F(Json, OfEveryCommandIsOneDocument) {
  ASSERT_EQ(as("ann", {"acquire", "docs/x.md"}).exit, 0);
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"release", "src/b.ts"},
                                             {"renew", "--all"},
                                             {"check", "docs/x.md", "--token", "5"},
                                             {"ls"},
                                             {"agents"},
                                             {"pairs", "src/a.ts"},
                                             {"config", "list"},
                                             {"config", "get", "ttl"},
                                             {"gc"},
                                             {"doctor"},
                                             {"version"},
                                             {"help"},
                                             {"history", "--timeline"},
                                             {"completion", "bash"},
                                             {"status", "--at", "0s"},
                                             {"downgrade", "docs/x.md"},
                                             {"upgrade", "docs/x.md"},
                                             {"transfer", "--to", "bob", "docs/x.md"},
                                             {"force-release", "--agent", "bob", "--reason", "r"}}) {
    EXPECT_FALSE(json("ann", arguments).empty()) << arguments.front();
  }
}

}  // namespace
}  // namespace leasehold
