#include "hook/noted_session.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/temp_folder.h"

namespace leasehold {
namespace {

const Process kAgent = {"m", "b", 1, 100, 5};

std::string all_in(const std::string& folder) {
  std::string text;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    std::ifstream file(entry.path());
    text += std::string(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

TEST(NotedSession, TheLastOneOfAProcessCounts) {
  const TempFolder around;
  const std::string folder = around.path() + "/leasehold/seen";
  note_session(folder, kAgent, {"claude-code", "s1"});
  EXPECT_EQ(all_in(folder), "claude-code\ns1\n");
  note_session(folder, kAgent, {"claude-code", "s2"});
  EXPECT_EQ(all_in(folder), "claude-code\ns2\n");

  forget_session(folder, kAgent, {"claude-code", "s1"});
  EXPECT_EQ(all_in(folder), "claude-code\ns2\n") << "that one was over before";
  forget_session(folder, kAgent, {"claude-code", "s2"});
  EXPECT_EQ(all_in(folder), "");
}

TEST(NotedSession, ANoteThatSaysTheSameIsNotWrittenAgain) {
  const TempFolder around;
  const std::string folder = around.path() + "/seen";
  note_session(folder, kAgent, {"claude-code", "s1"});
  const auto file = std::filesystem::directory_iterator(folder)->path();
  const auto then = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(file, then);
  note_session(folder, kAgent, {"claude-code", "s1"});
  EXPECT_EQ(std::filesystem::last_write_time(file), then);
}

TEST(NotedSession, APidThatAnotherProcessHasByNowIsAnotherProcess) {
  const TempFolder around;
  const std::string folder = around.path() + "/seen";
  Process later = kAgent;
  later.start_time = 6;
  note_session(folder, kAgent, {"gemini", "s1"});
  forget_session(folder, later, {"gemini", "s1"});
  EXPECT_EQ(all_in(folder), "gemini\ns1\n");
}

}  // namespace
}  // namespace leasehold
