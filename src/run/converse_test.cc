#include "run/converse.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

TEST(Converse, ReturnsAllThatAProgramSays) {
  const std::string much(std::size_t{1} << 18, 'x');  // More than a pipe holds.
  const auto said =
      converse({.command = {"sh", "-c", "cat; echo oops >&2; exit 3"}, .input = much, .folder = "/"});
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->out, much);
  EXPECT_EQ(said->err, "oops\n");
  EXPECT_EQ(said->exit_status, 3);
}

TEST(Converse, LeavesVariablesOut) {
  ::setenv("LEASEHOLD_TEST", "x", 1);
  const std::vector<std::string> command = {"sh", "-c", "echo ${LEASEHOLD_TEST:-none} $PWD"};
  EXPECT_EQ(converse({.command = command, .folder = "/"})->out, "x /\n");
  EXPECT_EQ(converse({.command = command, .folder = "/", .without = {"LEASEHOLD_TEST"}})->out, "none /\n");
}

TEST(Converse, KillsWhatDoesNotEnd) {
  const auto said = converse(
      {.command = {"sh", "-c", "sleep 1000 & sleep 1000"}, .patience = std::chrono::milliseconds(50)});
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().code, Code::timeout);
}

TEST(Converse, SaysWhatCannotBeRun) {
  const auto said = converse({.command = {"/nowhere/lease"}});
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().code, Code::unavailable);
}

}  // namespace
}  // namespace leasehold
