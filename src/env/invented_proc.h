// For tests: a root folder of its own with the files that say where we are and which processes there are.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "util/check.h"

namespace leasehold {

class InventedProc {
 public:
  InventedProc() {
    std::string name = (std::filesystem::temp_directory_path() / "leasehold-proc-XXXXXX").string();
    LEASEHOLD_CHECK(::mkdtemp(name.data()) != nullptr);
    root_ = name;
    std::filesystem::create_directories(proc());
    set_self(::getpid());
  }
  InventedProc(const InventedProc&) = delete;
  InventedProc& operator=(const InventedProc&) = delete;
  ~InventedProc() {
    std::error_code ignored;
    std::filesystem::permissions(proc(), std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(root_, ignored);
  }

  const std::string& root() const { return root_; }
  std::string proc() const { return root_ + "/proc"; }

  // Which process it takes its reader for.
  void set_self(pid_t pid) const {
    std::filesystem::remove(proc() + "/self");
    std::filesystem::create_symlink(std::to_string(pid), proc() + "/self");
  }

  // Makes the folders above as well.
  void file(std::string_view path, std::string_view text) const {
    const std::filesystem::path place = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(place.parent_path());
    std::ofstream(place, std::ios::binary) << text;
  }

 private:
  std::string root_;
};

}  // namespace leasehold
