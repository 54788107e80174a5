// A program that changes nothing but the URL of its store.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "leasehold/open.h"
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

}  // namespace
}  // namespace leasehold
