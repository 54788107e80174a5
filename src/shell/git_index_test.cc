#include "shell/git_index.h"

#include <gtest/gtest.h>

#include <vector>

namespace leasehold::shell {
namespace {

std::string number(std::size_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string hash() { return std::string(20, 'h'); }

struct Entry {
  std::string path;
  std::size_t mode = 0100644;
  bool is_extended = false;
  int cut = 0;  // Of the path before, in version 4.
};

std::string made(int version, const std::vector<Entry>& entries, const std::string& extensions = "") {
  std::string index = "DIRC" + number(static_cast<std::size_t>(version), 4) + number(entries.size(), 4);
  for (const Entry& one : entries) {
    std::string text = std::string(24, 't') + number(one.mode, 4) + std::string(12, 'o') + hash() +
                       number(one.is_extended ? 0x4000 : 0, 2);
    if (one.is_extended) text += number(0x2000, 2);
    if (version == 4) text += static_cast<char>(one.cut);
    text += one.path + '\0';
    while (version != 4 && text.size() % 8 != 0) text += '\0';
    index += text;
  }
  return index + extensions + hash();
}

using Paths = std::set<std::string, std::less<>>;

TEST(GitIndex, HasThePathsOfItsEntries) {
  const std::string extension = "TREE" + number(3, 4) + "abc";
  EXPECT_EQ(paths_in_index(made(2, {{"a"}, {"b/c"}, {"b/longer.name"}}, extension)),
            (Paths{"a", "b/c", "b/longer.name"}));
  EXPECT_EQ(paths_in_index(made(3, {{"a", 0100755, true}, {"b"}})), (Paths{"a", "b"}));
  EXPECT_EQ(paths_in_index(made(4, {{"b/c.txt"}, {"d.txt", 0100644, true, 5}, {"x", 0120000, false, 7}})),
            (Paths{"b/c.txt", "b/d.txt", "x"}));
  EXPECT_EQ(paths_in_index(made(2, {})), Paths());
}

TEST(GitIndex, OneThatDoesNotTellAllIsNotKnown) {
  EXPECT_FALSE(paths_in_index(""));
  EXPECT_FALSE(paths_in_index(made(5, {})));
  EXPECT_FALSE(paths_in_index(made(2, {{"a"}}, "link" + number(0, 4)))) << "split";
  EXPECT_FALSE(paths_in_index(made(3, {{"a/", 0040000}}))) << "sparse";
  EXPECT_FALSE(paths_in_index(made(2, {{"b"}, {"a"}}))) << "not in order";
  EXPECT_FALSE(paths_in_index(made(4, {{"a"}, {"b", 0100644, false, 2}}))) << "more than there was";
  const std::string whole = made(2, {{"a"}, {"b"}});
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(paths_in_index(std::string_view(whole).substr(0, length))) << length;
}

}  // namespace
}  // namespace leasehold::shell
