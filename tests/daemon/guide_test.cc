// What the guide tells people to type.
#include <gtest/gtest.h>

#include "daemon_scene.h"

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

}  // namespace
}  // namespace leasehold
