// A program that changes nothing but the URL of its store.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "leasehold/open.h"
#include "support/proxy.h"
#include "support/redis_server.h"
#include "support/temp_folder.h"

namespace leasehold {
namespace {

TEST(RedisUrl, IsAllThatChanges) {
  const RedisDatabase database;
  const TempFolder folder;
  std::ofstream(folder.path() + "/.leasehold.toml") << "workspace = \"shop\"\n";
  const auto open = [&] {
    return open_workspace({.place = folder.path(), .settings = {{"store", database.url()}}});
  };
  const auto first = open();
  ASSERT_TRUE(first) << first.error().message;
  const auto second = open();
  const auto ask = [](OpenWorkspace& workspace, const std::string& agent) {
    return workspace.client()->acquire(
        {.caller = {.holder = {.owner = {agent, ""}}}, .paths = *workspace.wanted({{.path = "a.cc"}})});
  };

  EXPECT_TRUE(std::holds_alternative<Granted>(ask(**first, "ann")->decision));
  EXPECT_TRUE(std::holds_alternative<Refused>(ask(**second, "bob")->decision));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/.leasehold")) << "nothing is kept here";
}

// The profile `session` tries three times, also to open the store; the others once.
TEST(RedisUrl, IsTriedAsOftenAsTheProfileSays) {
  const RedisServer server;
  const TempFolder folder;
  const auto opens = [&](const std::string& profile, int failures) {
    Proxy proxy(server.socket());
    proxy.judge_by(
        [&](bool, std::string_view) { return failures-- > 0 ? Proxy::Fate::cut : Proxy::Fate::forward; });
    const auto opened =
        open_workspace({.place = folder.path(), .settings = {{"store", proxy.url()}, {"profile", profile}}});
    return opened ? "opened" : std::string(info(opened.error().code).name);
  };
  EXPECT_EQ(opens("session", 2), "opened");
  EXPECT_EQ(opens("session", 3), "unavailable");
  EXPECT_EQ(opens("agent", 1), "unavailable");
}

}  // namespace
}  // namespace leasehold
