#include "init/folder_mark.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_folder.h"

namespace leasehold {
namespace {

TEST(FolderMark, IsTheEmptyLinesAtTheEnd) {
  for (const auto& [text, mark] : {std::pair<std::string, std::string>{"", ""},
                                   {"a", ""},
                                   {"a\n", ""},
                                   {"a\n\n\n", "\n\n"},
                                   {"\n", ""},
                                   {"\n\n", "\n"},
                                   {"a\r\n\r\n", ""}}) {
    const MarkedText taken = without_mark(text);
    EXPECT_EQ(taken.mark, mark) << text;
    EXPECT_EQ(taken.text + taken.mark, text);
  }
}

TEST(FolderMark, CountsTheFoldersThatAreThereAndEmpty) {
  const TempFolder root;
  const std::string path = root.path() + "/a/b/file";
  EXPECT_EQ(mark_for(path, 2), "") << "none of its folders is there";

  std::filesystem::create_directories(root.path() + "/a");
  EXPECT_EQ(mark_for(path, 2), "\n");
  std::filesystem::create_directories(root.path() + "/a/b");
  EXPECT_EQ(mark_for(path, 2), "\n\n");
  EXPECT_EQ(mark_for(path, 1), "\n");

  std::ofstream(root.path() + "/a/b/other");
  EXPECT_EQ(mark_for(path, 2), "") << "it stays without a mark";
}

}  // namespace
}  // namespace leasehold
