#include "hook/seen_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/temp_folder.h"

namespace leasehold {
namespace {

class Seen : public testing::Test {
 protected:
  void write(const std::string& text) const { std::ofstream(path()) << text; }
  std::string path() const { return folder.path() + "/a file"; }
  SeenFiles of(const std::string& agent) const { return {folder.path() + "/seen", {agent, "s"}}; }

  const TempFolder folder;
};

TEST_F(Seen, AFileChangesForThoseWhoSawIt) {
  write("one");
  of("ann").note(path());
  EXPECT_FALSE(of("ann").has_changed(path()));

  write("two and more");

  EXPECT_TRUE(of("ann").has_changed(path()));
  EXPECT_FALSE(of("bob").has_changed(path())) << "he never saw it";
  of("ann").note(path());
  EXPECT_FALSE(of("ann").has_changed(path()));
}

TEST_F(Seen, AnotherTimeAloneIsNoChange) {
  write("one");
  of("ann").note(path());
  std::filesystem::last_write_time(path(),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_NE(of("ann").find(path())->state, state_of(path()));
  EXPECT_FALSE(of("ann").has_changed(path())) << "its content is the same";
}

TEST_F(Seen, AFileThatIsGoneOrCameHasChanged) {
  of("ann").note(path());
  write("one");
  EXPECT_TRUE(of("ann").has_changed(path()));
  of("ann").note(path());
  std::filesystem::remove(path());
  EXPECT_TRUE(of("ann").has_changed(path()));
}

TEST_F(Seen, ABegunWriteIsOverWhenTheFileIsSeen) {
  of("ann").note_write_begins(path());
  EXPECT_TRUE(of("ann").is_being_written(path()));
  of("ann").note(path());
  EXPECT_FALSE(of("ann").is_being_written(path()));
}

TEST_F(Seen, ManyLinesBecomeOneForEachFile) {
  write("one");
  SeenFiles ann = of("ann");
  ann.note_command_begins("c1", false);
  const auto began = ann.command_began("c1");
  for (int i = 0; i < 20'000; ++i) ann.note_write_begins("/some/rather/long/name/of/a/file");
  ann.note(path());
  for (int i = 0; i < 20'000; ++i) ann.note_write_begins("/some/rather/long/name/of/a/file");
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/seen"))
    bytes += entry.file_size();
  EXPECT_LT(bytes, 600'000U);
  EXPECT_TRUE(of("ann").find(path()));
  EXPECT_EQ(of("ann").command_began("c1"), began);
}

TEST_F(Seen, WhatIsNoLineIsPassedOver) {
  write("one");
  of("ann").note(path());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/seen")) {
    std::ofstream(entry.path(), std::ios::app)
        << "s 12 x\n\ns\nq 1 2 3 4 5 6\ns 99999999999999999999 1 1 1 h /a\ns 1 2";
  }
  EXPECT_TRUE(of("ann").find(path()));
  EXPECT_FALSE(of("ann").find("/a"));
}

TEST_F(Seen, WhoIsGoneIsForgottenAndSoAreThoseWhoDidNotSay) {
  of("ann").note(path());
  of("bob").note(path());
  of("cyd").note(path());
  const std::string seen = folder.path() + "/seen";
  for (const auto& entry : std::filesystem::directory_iterator(seen)) {
    EXPECT_EQ(entry.status().permissions(), std::filesystem::perms(0600));
  }
  of("ann").forget();
  EXPECT_FALSE(of("ann").find(path()));
  EXPECT_TRUE(of("bob").find(path()));
  for (const auto& entry : std::filesystem::directory_iterator(seen)) {
    std::filesystem::last_write_time(
        entry.path(), std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 5));
  }
  of("dan").forget();
  EXPECT_FALSE(of("bob").find(path()));
}

}  // namespace
}  // namespace leasehold
