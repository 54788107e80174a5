// Pairing runs in every acquire of every hook: a hundred files must cost less than a millisecond, and making
// the rules ready not much more than reading them.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "workspace/pair_config.h"
#include "workspace/pairs.h"

namespace leasehold {
namespace {

struct Project {
  std::vector<std::string> sources;
  std::unordered_set<std::string> files;  // Every other source has a test.
};

// A monorepo of several languages; the sources lie three folders deep.
Project project(int count) {
  constexpr std::array<std::string_view, 8> kSources = {
      "/packages/web/src/ui/c{}.tsx",      "/packages/web/src/core/m{}.ts",
      "/services/api/pkg/net/m{}.py",      "/cmd/tool/m{}.go",
      "/crates/core/src/io/m{}.rs",        "/native/src/base/m{}.cc",
      "/jvm/src/main/java/org/x/C{}.java", "/dotnet/src/App/Net/C{}.cs"};
  constexpr std::array<std::string_view, 8> kTests = {
      "/packages/web/tests/ui/c{}.test.tsx",   "/packages/web/src/core/m{}.spec.ts",
      "/services/api/tests/net/test_m{}.py",   "/cmd/tool/m{}_test.go",
      "/crates/core/tests/io/m{}.rs",          "/native/src/base/m{}_test.cc",
      "/jvm/src/test/java/org/x/C{}Test.java", "/dotnet/tests/App.Tests/Net/C{}Tests.cs"};
  Project made;
  for (int i = 0; i < count; ++i) {
    const auto kind = static_cast<std::size_t>(i) % kSources.size();
    made.sources.push_back(fmt::format(fmt::runtime(kSources[kind]), i));
    if (i / 8 % 2 == 0) made.files.insert(fmt::format(fmt::runtime(kTests[kind]), i));
  }
  return made;
}

void expand(benchmark::State& state) {
  const auto rules = PairRules::compile(default_pair_rules());
  const Project made = project(static_cast<int>(state.range(0)));
  const auto exists = [&made](const std::string& key) { return made.files.contains(key); };
  for (auto _ : state) {
    const auto found = rules->expand(made.sources, exists);
    if (found.size() != made.files.size()) state.SkipWithError("a test was not found");
    benchmark::DoNotOptimize(found.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(expand)->Arg(1)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

void make_default_rules_ready(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(pair_rules(TomlTable{}, ".leasehold.toml"));
}
BENCHMARK(make_default_rules_ready)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace leasehold
