// What every `lease` call pays before it does anything: finding its workspace and turning paths into keys.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "workspace/path_intake.h"
#include "workspace/workspace.h"

namespace leasehold {
namespace {

// A repository with a settings file and a source six folders deep.
class Tree {
 public:
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "leasehold-XXXXXX").string();
    root = std::filesystem::canonical(::mkdtemp(name.data()));
    std::filesystem::create_directories(root / ".git");
    std::filesystem::create_directories(root / "packages/web/src/core/net/http");
    std::ofstream(root / ".git/HEAD") << "ref: refs/heads/main\n";
    std::ofstream(root / ".git/config") << "[remote \"origin\"]\n\turl = git@github.com:foo/bar.git\n";
    std::ofstream(root / ".leasehold.toml") << "scope = \"repo\"\n[pairs]\nmode = \"extend\"\n";
    std::ofstream(file()) << "x";
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() { std::filesystem::remove_all(root); }

  std::string file() const { return root / "packages/web/src/core/net/http/get.ts"; }

  std::filesystem::path root;
};

void find_the_workspace(benchmark::State& state) {
  const Tree tree;
  const std::string folder = std::filesystem::path(tree.file()).parent_path();
  for (auto _ : state) benchmark::DoNotOptimize(find_workspace(folder));
}
BENCHMARK(find_the_workspace)->Unit(benchmark::kMicrosecond);

void key_of_a_file(benchmark::State& state) {
  const Tree tree;
  const auto workspace = find_workspace(tree.root.string());
  const std::string file = tree.file();
  for (auto _ : state) benchmark::DoNotOptimize(key_from_os(*workspace, {.path = file, .cwd = "/"}));
}
BENCHMARK(key_of_a_file)->Unit(benchmark::kMicrosecond);

// For comparison.
void realpath_of_a_file(benchmark::State& state) {
  const Tree tree;
  const std::string file = tree.file();
  for (auto _ : state) {
    char* path = ::realpath(file.c_str(), nullptr);
    benchmark::DoNotOptimize(path);
    std::free(path);
  }
}
BENCHMARK(realpath_of_a_file)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace leasehold
