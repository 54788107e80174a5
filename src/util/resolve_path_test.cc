// The differential test against the kernel is src/workspace/path_intake_property_test.cc.
#include "util/resolve_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace leasehold {
namespace {

class ResolvePath : public testing::Test {
 protected:
  ResolvePath() {
    std::string name = (std::filesystem::temp_directory_path() / "leasehold-XXXXXX").string();
    root = std::filesystem::canonical(::mkdtemp(name.data())).string();
  }
  ~ResolvePath() override { std::filesystem::remove_all(root); }

  void link_chain(int length) const {
    for (int i = 0; i < length; ++i) {
      std::filesystem::create_symlink(i == 0 ? "end" : "l" + std::to_string(i),
                                      root + "/l" + std::to_string(i + 1));
    }
  }

  std::string root;
};

TEST_F(ResolvePath, MissingPathIsText) {
  EXPECT_EQ(resolve_path(root, "x/y/../z"), (ResolvedPath{root + "/x/z", false}));
  EXPECT_EQ(resolve_path(root, "x/.."), (ResolvedPath{root, true}));
  EXPECT_EQ(resolve_path("/", "/../.."), (ResolvedPath{"/", true}));
}

TEST_F(ResolvePath, FortyLinksAreFollowedAndNoMore) {
  link_chain(41);

  EXPECT_EQ(resolve_path(root, "l40"), (ResolvedPath{root + "/end", false}));
  EXPECT_EQ(resolve_path(root, "l41"), std::unexpected(std::errc::too_many_symbolic_link_levels));
}

TEST_F(ResolvePath, UnreadableFolderIsAnError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  std::filesystem::create_directory(root + "/closed");
  std::filesystem::permissions(root + "/closed", std::filesystem::perms::none);

  EXPECT_EQ(resolve_path(root, "closed/x"), std::unexpected(std::errc::permission_denied));

  std::filesystem::permissions(root + "/closed", std::filesystem::perms::owner_all);  // To be removed.
}

}  // namespace
}  // namespace leasehold
