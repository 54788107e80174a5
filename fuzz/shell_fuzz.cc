// Whatever an agent gives to a shell: it is followed or given up, soon, and nothing but absolute paths come
// out.
#include <cstdint>

#include "shell/find_writes.h"
#include "util/check.h"

namespace {

using namespace leasehold;

// Always the same small tree, so that what is found depends on the line only.
class SmallFolder : public shell::FolderView {
 public:
  bool exists(const std::string& path) const override { return path.size() % 3 != 0; }
  bool is_folder(const std::string& path) const override { return path.size() % 2 == 0; }
  std::optional<std::vector<std::string>> names(const std::string&) const override {
    return std::vector<std::string>{".git", "a", "b.ts", "c d"};
  }
  std::optional<std::string> text(const std::string&) const override { return "--- a/x\n+++ b/x\n"; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view command(reinterpret_cast<const char*>(data), size);
  const SmallFolder files;

  const shell::Writes writes = shell::find_writes(command, {.folder = "/w/x", .home = "/h", .files = files});

  for (const shell::Write& write : writes.files) LEASEHOLD_CHECK(write.path.starts_with('/'));
  return 0;
}
