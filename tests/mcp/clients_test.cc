// The official clients, in each of their ways to find out which era a server is of.
#include <fmt/format.h>

#include "cli/scene.h"
#include "cli/started_program.h"

namespace leasehold {
namespace {

// Where tests/mcp/install put them. Empty: they are not there, and npm cannot be reached.
std::string clients_folder() {
  constexpr int kNotReachable = 75;
  static const Ran found = [] {
    std::vector<std::string> environment;
    for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
    return StartedProgram({MCP_FOLDER "/install"}, environment).wait();
  }();
  if (found.exit == kNotReachable) return {};
  EXPECT_EQ(found.exit, 0) << found.err;
  return found.out.substr(0, found.out.find('\n'));
}

class McpClients : public Scene, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Clients, McpClients, testing::Values("sdk", "legacy", "auto", "modern"),
                         [](const auto& named) { return std::string(named.param); });

TEST_P(McpClients, DriveEveryToolAndWaitAndGiveUp) {
  const std::string folder = clients_folder();
  if (folder.empty()) GTEST_SKIP() << "they are not installed, and npm cannot be reached";

  const Ran ran = StartedProgram({folder + "/node22", MCP_FOLDER "/clients.mjs", folder, GetParam(),
                                  LEASE_BINARY, root()},
                                 {"PATH=/usr/bin:/bin", "HOME=" + root()}, root())
                      .wait();

  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "done\n");
  EXPECT_FALSE(contains(as("looker", {"ls"}).out, "docs/x.md")) << "clean shutdowns release";
}

}  // namespace
}  // namespace leasehold
