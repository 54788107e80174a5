// The official clients, in each of their ways to find out which era a server is of, over each transport.
#include "clients_folder.h"
#include "daemon/daemon_scene.h"

namespace leasehold {
namespace {

class McpClients : public DaemonScene, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (clients_folder().empty()) GTEST_SKIP() << "they are not installed, and npm cannot be reached";
  }
  Ran drive(const std::vector<std::string>& server) const {
    std::vector<std::string> arguments = {MCP_FOLDER "/clients.mjs", clients_folder(), GetParam()};
    arguments.insert(arguments.end(), server.begin(), server.end());
    return run_there(arguments, root());
  }
};

INSTANTIATE_TEST_SUITE_P(Clients, McpClients, testing::Values("sdk", "legacy", "auto", "modern"),
                         [](const auto& named) { return std::string(named.param); });

TEST_P(McpClients, DriveEveryToolOverStandardInput) {
  const Ran ran = drive({"stdio", LEASE_BINARY, root()});

  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "done\n");
  EXPECT_FALSE(contains(as("looker", {"ls"}).out, "docs/x.md")) << "clean shutdowns release";
}

TEST_P(McpClients, DriveEveryToolOverHttp) {
  serve({"--open-to-loopback"}, true);

  const Ran ran = drive({"http", "http://127.0.0.1:" + std::to_string(port()) + "/mcp"});

  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "done\n");
  EXPECT_FALSE(contains(as("looker", {"ls"}).out, "docs/x.md")) << "the end of a session releases";
}

}  // namespace
}  // namespace leasehold
