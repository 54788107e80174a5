// The official conformance scenarios, against a daemon. Most of them want tools, prompts and resources of
// their own, which a server for leases has not: conformance.txt names what therefore fails. Nothing else may.
#include <algorithm>
#include <fstream>
#include <set>

#include "clients_folder.h"
#include "daemon/daemon_scene.h"

namespace leasehold {
namespace {

namespace fs = std::filesystem;

class McpConformance : public DaemonScene, public testing::WithParamInterface<const char*> {
 protected:
  // "scenario check" for each that failed, and how many did not.
  std::set<std::string> failures(const std::string& folder, int& passed) const {
    std::set<std::string> failed;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().filename() != "checks.json") continue;
      // server-NAME-2026-11-15T18-44-49-674Z
      const std::string run = entry.path().parent_path().filename();
      const std::string scenario =
          std::regex_replace(run, std::regex("^server-|-[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9-]+Z$"), "");
      std::ifstream file(entry.path());
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      const boost::json::value checks = boost::json::parse(text);
      for (const boost::json::value& check : checks.as_array()) {
        if (check.at("status") == "SUCCESS") ++passed;
        if (check.at("status") == "FAILURE")
          failed.insert(scenario + " " + std::string(check.at("id").as_string()));
      }
    }
    return failed;
  }

  static std::set<std::string> expected(const std::string& version) {
    std::set<std::string> lines;
    std::ifstream file(MCP_FOLDER "/conformance.txt");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(version + " ")) lines.insert(line.substr(version.size() + 1));
    }
    return lines;
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, McpConformance, testing::Values("2026-07-28", "2025-11-25"),
                         [](const auto& named) {
                           return std::regex_replace(std::string(named.param), std::regex("-"), "_");
                         });

TEST_P(McpConformance, OnlyWhatNeedsOtherToolsFails) {
  if (clients_folder().empty()) GTEST_SKIP() << "it is not installed, and npm cannot be reached";
  serve({"--open-to-loopback"}, true);

  const Ran ran =
      run_there({clients_folder() + "/node_modules/@modelcontextprotocol/conformance/dist/index.js", "server",
                 "--url", "http://127.0.0.1:" + std::to_string(port()) + "/mcp", "--requirements", GetParam(),
                 "-o", root() + "/out"},
                root());

  int passed = 0;
  const auto failed = failures(root() + "/out", passed);
  EXPECT_GT(passed, 40) << ran.out << ran.err;
  const auto known = expected(GetParam());
  for (const std::string& one : failed) EXPECT_TRUE(known.contains(one)) << GetParam() << " " << one;
  for (const std::string& one : known) EXPECT_TRUE(failed.contains(one)) << "passes now: " << one;
}

}  // namespace
}  // namespace leasehold
