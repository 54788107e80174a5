#pragma once

#include <string>

namespace leasehold {

// An empty folder, gone with all in it when this goes out of scope. In memory where there is such a place:
// tests sync often, and disks are slow at it.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace leasehold
