// The C++ library's way to a server, for programs without a tree of files.
#include <gtest/gtest.h>

#include "daemon_scene.h"
#include "leasehold/open.h"

namespace leasehold {
namespace {

using Connect = DaemonScene;

TEST_F(Connect, GivesTheCallsOfAServer) {
  serve();
  const auto client = connect("http+unix:" + socket(), {.workspace = "elsewhere"});
  ASSERT_TRUE(client) << client.error().message;
  const Caller ann = {.holder = {.owner = {"ann", "s"}}};
  const Caller bob = {.holder = {.owner = {"bob", "s"}}};

  const auto granted = (*client)->acquire({.caller = ann, .paths = {{.path = "/src/a.ts"}}});
  const auto refused = (*client)->acquire({.caller = bob, .paths = {{.path = "/src/a.ts"}}});

  ASSERT_TRUE(granted) << granted.error().message;
  const auto* grant = std::get_if<Granted>(&granted->decision);
  ASSERT_NE(grant, nullptr);
  EXPECT_EQ(grant->leases.front().workspace, "elsewhere");
  EXPECT_TRUE((*client)->check(ann, "/src/a.ts", grant->leases.front().token)->current);
  ASSERT_TRUE(refused) << refused.error().message;
  ASSERT_TRUE(std::holds_alternative<Refused>(refused->decision));
  EXPECT_EQ(std::get<Refused>(refused->decision).blocked.front().holder.owner.agent_id, "ann");
  EXPECT_TRUE((*client)->release({.caller = ann, .which = {.all = true}}));
  EXPECT_TRUE((*client)->leases()->empty());
}

TEST_F(Connect, ConnectsAgainAndSaysWhoIsNotThere) {
  serve();
  const auto client = connect("http+unix:" + socket());
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_TRUE((*client)->leases());
  stop();
  EXPECT_EQ((*client)->leases().error().code, Code::unavailable);

  serve();

  EXPECT_TRUE((*client)->leases());
}

TEST_F(Connect, TakesTheUrlOfAServerOnly) {
  for (const char* url : {"", "sqlite:/tmp/x", "redis://h", "http+unix:relative", "ftp://h", "http://"})
    EXPECT_EQ(connect(url).error().code, Code::config_error) << url;
}

}  // namespace
}  // namespace leasehold
