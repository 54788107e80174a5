#include "util/replace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "util/read_file.h"

namespace leasehold {
namespace {

class ReplaceFile : public testing::Test {
 protected:
  ReplaceFile() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~ReplaceFile() override { std::filesystem::remove_all(folder_); }

  std::string file() const { return folder_ + "/file"; }
  std::string beside() const { return file() + "." + std::to_string(::getpid()); }

  std::string folder_ = testing::TempDir() + "leasehold-replace-XXXXXX";
};

TEST_F(ReplaceFile, LeavesOneFileOfItsOwnersAlone) {
  ASSERT_TRUE(replace_file(file(), "a longer text\n"));
  ASSERT_TRUE(replace_file(file(), "new\n"));

  EXPECT_EQ(read_file(file(), 100), "new\n");
  struct stat status{};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_FALSE(std::filesystem::exists(beside()));
}

TEST_F(ReplaceFile, LeavesNothingBehindWhereItCannot) {
  std::filesystem::create_directory(file());

  EXPECT_EQ(replace_file(file(), "x", Outlives::process).error(), std::errc::is_a_directory);
  EXPECT_FALSE(std::filesystem::exists(beside()));
}

TEST_F(ReplaceFile, SaysWhyItCannot) {
  EXPECT_EQ(replace_file(folder_ + "/none/file", "x").error(), std::errc::no_such_file_or_directory);
}

// The name beside it may be somebody's trap.
TEST_F(ReplaceFile, FollowsNoLink) {
  std::filesystem::create_symlink(folder_ + "/elsewhere", beside());

  EXPECT_FALSE(replace_file(file(), "x"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/elsewhere"));
}

}  // namespace
}  // namespace leasehold
