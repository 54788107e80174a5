#include "init/mcp_server.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

struct Before {
  HookHost host;
  FileText text;
};

class McpServerEntry : public testing::TestWithParam<Before> {};

INSTANTIATE_TEST_SUITE_P(
    Files, McpServerEntry,
    testing::Values(Before{HookHost::claude_code, {}}, Before{HookHost::claude_code, "{}"},
                    Before{HookHost::claude_code, "{\n}\n"},
                    Before{HookHost::claude_code, "{\n  \"mcpServers\": {\n  }\n}\n"},
                    Before{HookHost::claude_code, "{\n  \"other\": 1\n}\n"},
                    Before{HookHost::claude_code, "{\"mcpServers\": {}}\n"},
                    Before{HookHost::claude_code,
                           "{\"mcpServers\": {\"a\": {\"command\": \"a\"}}, \"b\": []}"},
                    Before{HookHost::cursor, {}}, Before{HookHost::opencode, "{\n  \"provider\": {}\n}\n"},
                    Before{HookHost::copilot, {}}, Before{HookHost::windsurf, "{\"mcpServers\":{}}"},
                    Before{HookHost::cline, "\n"}, Before{HookHost::gemini, "{\"hooks\": {}}"},
                    Before{HookHost::codex, {}}, Before{HookHost::codex, "model = \"x\"\n"},
                    Before{HookHost::codex, "[mcp_servers.other]\ncommand = \"x\""}));

TEST_P(McpServerEntry, IsPutInOnceAndTakenOutWithoutATrace) {
  const auto with = with_server(GetParam().text, GetParam().host, "/p");

  ASSERT_TRUE(with && *with);
  EXPECT_NE(*with, GetParam().text);
  EXPECT_EQ(*with_server(*with, GetParam().host, "/p"), *with);
  EXPECT_EQ(*without_server(*with, GetParam().host, "/p"), GetParam().text);
}

TEST(McpServerEntry, OnesOwnEntryOfThatNameStays) {
  const FileText own = R"({"mcpServers": {"lease": {"command": "/opt/lease", "args": ["mcp"]}}})";

  EXPECT_EQ(*with_server(own, HookHost::claude_code, "/p"), own);
  EXPECT_EQ(*without_server(own, HookHost::claude_code, "/p"), own);
}

TEST(McpServerEntry, InTomlItStaysHoweverItIsSpelt) {
  for (const char* own :
       {"[mcp_servers.\"lease\"]\ncommand = \"x\"\n", "[mcp_servers]\nlease = { command = \"x\" }\n",
        "mcp_servers.lease.command = \"x\"\n", "[ mcp_servers . lease ]\ncommand = \"x\"\n"}) {
    EXPECT_EQ(*with_server(own, HookHost::codex, "/p"), FileText(own));
    EXPECT_EQ(*without_server(own, HookHost::codex, "/p"), FileText(own));
  }
  const auto refused =
      with_server("a = 1\nmcp_servers = { other = { command = \"x\" } }\n", HookHost::codex, "/p");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("2: mcp_servers is written inline"))
      << refused.error().message;
}

TEST(McpServerEntry, InAFileForAllProjectsEachTakesOutItsOwn) {
  const FileText file = *with_server({}, HookHost::windsurf, "/a \"b\"");
  EXPECT_EQ(*without_server(file, HookHost::windsurf, "/other"), file);
  EXPECT_EQ(*without_server(file, HookHost::windsurf, "/a \"b\""), FileText());

  const FileText two = *with_server(file, HookHost::windsurf, "/x/o.ther");
  const FileText three = *with_server(two, HookHost::windsurf, "/y/o.ther");
  EXPECT_TRUE(three->contains(R"("lease-o-ther": {"command": "lease", "args": ["mcp", "-C", "/x/o.ther"]})"));
  EXPECT_TRUE(
      three->contains(R"("lease-o-ther-2": {"command": "lease", "args": ["mcp", "-C", "/y/o.ther"]})"));
  for (const char* root : {"/a \"b\"", "/x/o.ther", "/y/o.ther"})
    EXPECT_EQ(*with_server(three, HookHost::windsurf, root), three) << root;

  EXPECT_EQ(*without_server(three, HookHost::windsurf, "/y/o.ther"), two);
  EXPECT_EQ(*without_server(two, HookHost::windsurf, "/x/o.ther"), file);
  const FileText left = *without_server(two, HookHost::windsurf, "/a \"b\"");
  EXPECT_FALSE(left->contains(R"("lease":)"));
  EXPECT_EQ(*without_server(left, HookHost::windsurf, "/x/o.ther"), FileText());
}

TEST(McpServerEntry, ComesOutFromAmongLaterOnes) {
  const FileText file = *with_server({}, HookHost::claude_code, "/p");
  std::string behind = *file;
  behind.replace(behind.find("\n  }"), 0, ",\n    \"other\": {}");

  EXPECT_EQ(*without_server(behind, HookHost::claude_code, "/p"),
            "{\n  \"mcpServers\": {\n    \"other\": {}\n  }\n}\n");
}

TEST(McpServerEntry, ComesOutOfAFileThatItsHostWroteAnew) {
  const auto left = [](const char* text, HookHost host) { return **without_server(text, host, "/p"); };

  EXPECT_EQ(left("{\n\t\"mcpServers\": {\n\t\t\"a\": {},\n\t\t\"lease\": {\n\t\t\t\"args\": [\"mcp\"],\n"
                 "\t\t\t\"command\": \"lease\"\n\t\t}\n\t}\n}",
                 HookHost::claude_code),
            "{\n\t\"mcpServers\": {\n\t\t\"a\": {}\n\t}\n}");
  EXPECT_EQ(left(R"({"mcp":{"lease":{"command":["lease","mcp"],"enabled":true,"type":"local"},"z":{}}})",
                 HookHost::opencode),
            R"({"mcp":{"z":{}}})");
  EXPECT_EQ(left(R"({"mcpServers":{"lease":{"command":"lease","args":["mcp","-C","/p"],"disabled":false}}})",
                 HookHost::cline),
            R"({"mcpServers":{}})");

  const char* const other = R"({"mcpServers":{"lease":{"command":"lease","args":["mcp","-C","/q"]}}})";
  EXPECT_EQ(left(other, HookHost::cline), other) << "of another project";
  EXPECT_EQ(left("no JSON", HookHost::cline), "no JSON") << "none of ours can be in it";
}

TEST(McpServerEntry, AFileThatIsNotWhatTheAgentTakesIsNotTouched) {
  for (const char* wrong : {"[]", "{", R"({"mcpServers": []})"}) {
    EXPECT_FALSE(with_server(wrong, HookHost::claude_code, "/p")) << wrong;
  }
  EXPECT_FALSE(with_server("no toml", HookHost::codex, "/p"));
}

}  // namespace
}  // namespace leasehold
