// Every scenario on every store. tests/scenarios/README.md has the language.
//
// LEASEHOLD_SCENARIO_REWRITE=1 first writes the answers that are given into the scripts. Review each line
// that changes: the rules decide what is right, not the code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "scenarios/runner.h"

namespace leasehold::scenario {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string name;  // queue/writer_is_not_starved
  fs::path file;
  StoreFactory store;
  bool served = false;  // By a daemon, over HTTP.
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name << " on " << one.store.name << (one.served ? " over HTTP" : "");
}

std::vector<Case> all_cases() {
  const fs::path folder = LEASEHOLD_SCENARIOS;
  std::vector<Case> cases;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    const std::string name = fs::relative(entry.path(), folder).replace_extension().string();
    if (!name.contains('/')) continue;  // CMakeLists.txt
    for (const StoreFactory& store : available_stores()) {
      cases.push_back({name, entry.path(), store});
      if (store.name == "sqlite") cases.push_back({name, entry.path(), store, true});
    }
  }
  std::ranges::sort(cases, {},
                    [](const Case& one) { return std::tie(one.name, one.store.name, one.served); });
  return cases;
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name =
      info.param.name + "_on_" + info.param.store.name + (info.param.served ? "_over_http" : "");
  std::ranges::replace_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

bool rewriting() { return std::getenv("LEASEHOLD_SCENARIO_REWRITE") != nullptr; }

class Scenario : public testing::TestWithParam<Case> {};

TEST_P(Scenario, IsAnsweredAsWritten) {
  const auto& [name, file, store, served] = GetParam();
  if (!store.missing.empty()) GTEST_SKIP() << store.missing;
  if (rewriting()) {
    const std::string rewritten = play(read(file), store).rewritten;
    std::ofstream(file) << rewritten;
  }

  const Played played = play(read(file), store, served);

  for (const auto& [line, message] : played.failures) {
    ADD_FAILURE_AT(("tests/scenarios/" + name + ".txt").c_str(), line) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Scenario, testing::ValuesIn(all_cases()), test_name);

}  // namespace
}  // namespace leasehold::scenario
