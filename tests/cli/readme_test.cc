// The tour of the README, typed in literally.
#include <gtest/gtest.h>

#include "scene.h"

namespace leasehold {
namespace {

using Readme = Scene;

struct Tour {
  std::string script;    // What follows each "$ ".
  std::string expected;  // What stands between.
};

Tour tour() {
  std::ifstream file(LEASEHOLD_README);
  Tour result;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```console" || (inside && line == "```")) {
      inside = !inside;
    } else if (inside && line.starts_with("$ ")) {
      result.script += line.substr(2) + "\n";
    } else if (inside) {
      result.expected += line + "\n";
    }
  }
  return result;
}

// Tokens, times, hosts and the width that blanks pad to differ from run to run.
std::string without_what_differs(std::string text) {
  for (const auto& [pattern, with] : std::initializer_list<std::pair<const char*, const char*>>{
           {"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "WHEN"},
           {"host [A-Za-z0-9._-]+", "host HOST"},
           {"[0-9][0-9.]*(h|ms|m|s)([0-9]+s)?", "T"},
           {"[0-9]{10,}", "N"},
           {"(alive|unknown): [^)]*\\)", "VERDICT)"},
           {"(alive|unknown)( \\(pid [0-9]+\\))?", "VERDICT"},
           {" +", " "}}) {
    text = std::regex_replace(text, std::regex(pattern), with);
  }
  return text;
}

TEST_F(Readme, TourDoesWhatItShows) {
  const Tour written = tour();
  ASSERT_NE(written.script, "");
  std::ofstream(root() + "/tour") << "exec 2>&1\n" << written.script;
  const std::string folder = std::filesystem::path(LEASE_BINARY).parent_path();
  const std::string command =
      "cd " + root() + " && env -i HOME=" + root() + " PATH=" + folder + ":/usr/bin:/bin bash ./tour";

  FILE* const pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string said;
  char part[4096];
  while (fgets(part, sizeof part, pipe) != nullptr) said += part;
  pclose(pipe);

  EXPECT_EQ(without_what_differs(said), without_what_differs(written.expected));
}

}  // namespace
}  // namespace leasehold
