#include "mcp/desk.h"

#include <gtest/gtest.h>

namespace leasehold::mcp {
namespace {

std::string owner_of(const Owner& told, const Owner& noted, const Peer& peer) {
  Desk desk({.owner = told, .noted = [&] { return noted; }, .user = "nobody", .session = "mcp-1"});
  const Owner owner = desk.caller(peer).holder.owner;
  return owner.agent_id + "/" + owner.session_id;
}

TEST(Desk, ActsForTheSessionThatHooksNoted) {
  const Peer client = {.agent = "some-client", .session_id = {}, .trace = {}};
  EXPECT_EQ(owner_of({}, {}, client), "some-client/mcp-1");
  EXPECT_EQ(owner_of({}, {"windsurf", "w1"}, client), "windsurf/w1");
  EXPECT_EQ(owner_of({"claude-code", "old"}, {"claude-code", "new"}, client), "claude-code/new")
      << "the same process began another since";
  EXPECT_EQ(owner_of({"bob", "mine"}, {"", ""}, client), "bob/mine") << "what is said by flags";
  EXPECT_EQ(owner_of({}, {"codex", "c1"}, {.agent = "codex", .session_id = "c2", .trace = {}}), "codex/c2")
      << "one of several that the process has";
}

TEST(Desk, AClientIsTheHostThatItsHooksName) {
  EXPECT_EQ(agent_of({{"name", "Cline"}}), "cline");
  EXPECT_EQ(agent_of({{"name", "windsurf-client"}}), "windsurf");
  EXPECT_EQ(agent_of({{"name", "gemini-cli-mcp-client"}}), "gemini");
  EXPECT_EQ(agent_of({{"name", "some client"}}), "some-client");
}

}  // namespace
}  // namespace leasehold::mcp
