// For tests: a folder of its own for each, gone afterwards.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "util/check.h"

namespace leasehold {

class ScratchTree {
 public:
  ScratchTree() {
    std::string name = (std::filesystem::temp_directory_path() / "leasehold-XXXXXX").string();
    LEASEHOLD_CHECK(::mkdtemp(name.data()) != nullptr);
    root_ = std::filesystem::canonical(name).string();
  }
  ScratchTree(const ScratchTree&) = delete;
  ScratchTree& operator=(const ScratchTree&) = delete;
  ~ScratchTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  const std::string& root() const { return root_; }
  std::string operator/(std::string_view path) const { return root_ + "/" + std::string(path); }

  // Makes the folders above as well.
  void file(std::string_view path, std::string_view text = "") const {
    std::filesystem::create_directories(std::filesystem::path(*this / path).parent_path());
    std::ofstream(*this / path) << text;
  }
  void folder(std::string_view path) const { std::filesystem::create_directories(*this / path); }
  void link(std::string_view path, std::string_view target) const {
    std::filesystem::create_directories(std::filesystem::path(*this / path).parent_path());
    std::filesystem::create_symlink(target, *this / path);
  }

  // Runs a shell command in the folder `where`, untouched by the user's own git settings. Its output; empty
  // on failure.
  std::string run(std::string_view where, std::string_view command) const {
    const std::string line =
        "cd '" + (*this / where) + "' && HOME='" + root_ +
        "' GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
        "GIT_COMMITTER_EMAIL=a@b " +
        std::string(command) + " 2>/dev/null";
    std::FILE* pipe = ::popen(line.c_str(), "r");
    LEASEHOLD_CHECK(pipe != nullptr);
    std::string output;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
    return ::pclose(pipe) == 0 ? output : "";
  }

 private:
  std::string root_;
};

}  // namespace leasehold
