#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <regex>

#include "run_lease.h"

namespace leasehold {
namespace {

constexpr int kOk = 0;
constexpr int kUsage = 64;
constexpr int kUnavailable = 69;
constexpr int kCannotWrite = 74;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Tokens and times differ from run to run.
std::string without_numbers(const std::string& text) {
  const std::string times = std::regex_replace(text, std::regex("[0-9][0-9.]*(h|ms|m|s)([0-9]+s)?"), "T");
  return std::regex_replace(times, std::regex("[0-9][0-9.]*"), "N");
}

// The block of the README that starts with this line.
std::string block_of_readme(const std::string& first_line) {
  std::ifstream file(LEASEHOLD_README);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t start = text.find("```\n" + first_line);
  if (start == std::string::npos) return {};
  return text.substr(start + 4, text.find("```", start + 4) - start - 4);
}

TEST(Lease, WithoutArgumentsSaysWhatItCanDo) {
  const Ran ran = run_lease({});

  EXPECT_EQ(ran.exit, kOk);
  for (const char* part : {"usage: lease", "demo", "version", "help"})
    EXPECT_TRUE(contains(ran.out, part)) << part;
  EXPECT_EQ(ran.err, "");
}

TEST(Lease, AnswersToTheUsualSpellings) {
  EXPECT_EQ(run_lease({"--help"}).out, run_lease({"help"}).out);
  EXPECT_EQ(run_lease({"-h"}).out, run_lease({"help"}).out);
  EXPECT_TRUE(std::regex_match(run_lease({"version"}).out, std::regex("lease [0-9]+\\.[0-9]+\\.[0-9]+\n")));
  EXPECT_EQ(run_lease({"--version"}).out, run_lease({"version"}).out);
}

TEST(Lease, RefusesAnUnknownCommandAndShowsItSafely) {
  const Ran ran = run_lease({"aquire\x1b[2J" + std::string(10'000, 'x')});

  EXPECT_EQ(ran.exit, kUsage);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(contains(ran.err, R"(There is no command "aquire\x1b[2Jxx)")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "See: lease help")) << ran.err;
  EXPECT_LT(ran.err.size(), 200u);
}

TEST(Lease, RefusesArgumentsThatMeanNothing) {
  for (const char* command : {"help", "version", "demo", "--version"}) {
    const Ran ran = run_lease({command, "twice"});

    EXPECT_EQ(ran.exit, kUsage) << command;
    EXPECT_EQ(ran.out, "") << command;
    EXPECT_TRUE(contains(ran.err, "\"twice\"")) << ran.err;
  }
}

TEST(Lease, SaysWhenNobodyCanReadItsAnswer) {
  for (const char* command : {"help", "version", "demo"}) {
    const Ran ran = run_lease({command}, {.out = "/dev/full"});

    EXPECT_EQ(ran.exit, kCannotWrite) << command;
    EXPECT_TRUE(contains(ran.err, "Cannot write to standard output")) << ran.err;
  }
}

TEST(Demo, PlaysTheTourOfTheReadme) {
  const Ran ran = run_lease({"demo"});

  EXPECT_EQ(ran.exit, kOk) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(without_numbers(ran.out), without_numbers(block_of_readme("Two agents, one file")));
}

TEST(Demo, IsOneDocumentWithJsonAndSilentWithQuiet) {
  const Ran ran = run_lease({"demo", "--json"});

  EXPECT_EQ(ran.exit, kOk) << ran.err;
  const auto document = boost::json::parse(ran.out).as_object();
  EXPECT_EQ(document.at("scenes").as_array().size(), 5U);
  EXPECT_EQ(document.at("scenes").at(2).at("lines").at(0), "bob waits");

  EXPECT_EQ(run_lease({"demo", "-q"}).out, "");
}

TEST(Demo, SaysThatItHasNoPlaceToPlay) {
  const Ran ran = run_lease({"demo"}, {.environment = {"TMPDIR=/nowhere/at/all"}});

  EXPECT_EQ(ran.exit, kUnavailable);
  EXPECT_TRUE(contains(ran.err, "TMPDIR")) << ran.err;
}

TEST(Demo, LeavesNothingBehind) {
  std::string folder = testing::TempDir() + "leasehold-demo-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);

  EXPECT_EQ(run_lease({"demo"}, {.environment = {"TMPDIR=" + folder}}).exit, kOk);

  EXPECT_EQ(rmdir(folder.c_str()), 0) << "something is left in " << folder;
}

}  // namespace
}  // namespace leasehold
