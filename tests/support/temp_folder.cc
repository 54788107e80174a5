#include "support/temp_folder.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace leasehold {

TempFolder::TempFolder() {
  const bool in_memory = access("/dev/shm", W_OK) == 0;
  path_ = (in_memory ? std::string("/dev/shm") : std::filesystem::temp_directory_path().string()) +
          "/leasehold-test-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) {
    std::perror(path_.c_str());
    std::abort();
  }
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace leasehold
