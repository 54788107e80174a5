// What the guide tells people to type.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "daemon_scene.h"
#include "leasehold/error.h"

namespace leasehold {
namespace {

using Guide = DaemonScene;

std::string examples() {
  std::ifstream file(LEASEHOLD_API_GUIDE);
  std::string line;
  std::string script = "set -euo pipefail\n";
  bool inside = false;
  while (std::getline(file, line)) {
    if (line.starts_with("```")) {
      inside = line == "```sh";
    } else if (inside) {
      script += line + "\n";
    }
  }
  return script;
}

TEST_F(Guide, EveryExampleWorks) {
  serve();
  std::filesystem::create_directory(root() + "/examples");
  std::ofstream(root() + "/examples/script") << examples();

  StartedProgram bash({"/bin/bash", "-x", "script"}, {"PATH=/usr/bin:/bin", "SOCKET=" + socket()},
                      root() + "/examples");

  const Ran ran = bash.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
}

// Each code stands in the table of answers beside its status. (The repository lock is no matter of a server.)
TEST_F(Guide, TheTableOfAnswersHasEveryCode) {
  std::map<std::string, std::string> rows;  // By status.
  std::ifstream file(LEASEHOLD_API_GUIDE);
  const std::regex row(R"(\| ([0-9, ]+) \| (.*) \|)");
  for (std::string line; std::getline(file, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    std::istringstream statuses(found[1]);
    for (std::string status; std::getline(statuses >> std::ws, status, ',');) rows[status] += found[2];
  }

  for (const CodeInfo& known : code_table()) {
    if (known.code == Code::locked) continue;
    EXPECT_TRUE(contains(rows[std::to_string(known.http_status)], "`" + std::string(known.name) + "`"))
        << known.http_status << " " << known.name;
  }
}

}  // namespace
}  // namespace leasehold
