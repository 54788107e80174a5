// The runner must fail where it should: a scenario that cannot fail proves nothing.
#include "scenarios/runner.h"

#include <gtest/gtest.h>

#include "scenarios/duration_text.h"

namespace leasehold::scenario {
namespace {

const StoreFactory& memory() {
  static const StoreFactory store = available_stores().front();
  return store;
}

Played play_steps(const std::string& steps) { return play("# A test of the runner.\n" + steps, memory()); }

// The one thing that is wrong with these steps, as LINE: MESSAGE; empty if nothing is.
std::string complaint(const std::string& steps) {
  const Played played = play_steps(steps);
  if (played.failures.empty()) return "";
  EXPECT_EQ(played.failures.size(), 1u);
  return std::to_string(played.failures.front().line) + ": " + played.failures.front().message;
}

testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

TEST(ScenarioRunner, AcceptsRightAnswers) {
  EXPECT_EQ(complaint("acquire ann src/a -> granted token=t1 expires_in=5m\n"
                      "acquire bob src/a -> busy by=ann\n"
                      "  held path=src/a by=ann\n"),
            "");
}

TEST(ScenarioRunner, RefusesAnotherWord) {
  const std::string said = complaint("acquire ann src/a -> busy\n");

  EXPECT_TRUE(contains(said, "2: acquire ann src/a"));
  EXPECT_TRUE(contains(said, "expected: -> busy"));
  EXPECT_TRUE(contains(said, "answered: -> granted\n"));
}

TEST(ScenarioRunner, RefusesAnotherValue) {
  EXPECT_TRUE(contains(complaint("acquire ann src/a -> granted expires_in=4m\n"),
                       "answered: -> granted expires_in=5m\n"));
}

TEST(ScenarioRunner, RefusesAPairTheAnswerDoesNotHave) {
  EXPECT_TRUE(contains(complaint("acquire ann src/a -> granted colour=red\n"), "answered: -> granted\n"));
}

TEST(ScenarioRunner, RefusesWakingThatIsNotMentioned) {
  EXPECT_TRUE(contains(complaint("acquire ann src/a -> granted\n"
                                 "acquire bob src/a wait -> queued\n"
                                 "release ann src/a -> released\n"),
                       "answered: -> released wakes=bob"));
}

TEST(ScenarioRunner, RefusesWakingThatDidNotHappen) {
  EXPECT_TRUE(contains(complaint("acquire ann src/a -> granted\n"
                                 "release ann src/a -> released wakes=bob\n"),
                       "answered: -> released\n"));
}

TEST(ScenarioRunner, RefusesNoticesThatAreNotMentioned) {
  EXPECT_TRUE(contains(complaint("acquire ann src/a -> granted\n"
                                 "force-release olga src/a reason=x -> released\n"
                                 "acquire ann src/b -> granted\n"),
                       "answered: -> granted notices=forced:src/a"));
}

TEST(ScenarioRunner, ComparesAllRowsOrNone) {
  const std::string holders = "acquire ann src/a shared -> granted\nacquire bob src/a shared -> granted\n";

  EXPECT_EQ(complaint(holders + "status -> held\n"), "");
  EXPECT_EQ(complaint(holders + "status -> held\n  held by=ann\n  held by=bob\n"), "");
  EXPECT_NE(complaint(holders + "status -> held\n  held by=ann\n"), "");
  EXPECT_NE(complaint(holders + "status -> held\n  held by=bob\n  held by=ann\n"), "");
  EXPECT_NE(complaint(holders + "status -> held\n  held by=ann\n  held by=bob\n  held by=cyd\n"), "");
}

TEST(ScenarioRunner, LooksForPartsOfMessages) {
  const std::string held = "acquire ann src/a -> granted\n";

  EXPECT_EQ(complaint(held + "acquire bob src/a -> busy says=\"held by ann\"\n"), "");
  EXPECT_NE(complaint(held + "acquire bob src/a -> busy says=\"held by cyd\"\n"), "");
  EXPECT_NE(complaint(held + "acquire bob src/a -> busy says=\"\"\n"), "");
}

TEST(ScenarioRunner, ExplainsStepsItDoesNotKnow) {
  EXPECT_TRUE(contains(complaint("aquire ann src/a -> granted\n"),
                       "there is no 'aquire'; a step is one of: acquire"));
  EXPECT_TRUE(
      contains(complaint("acquire ann src/a exlusive -> granted\n"), "acquire does not know 'exlusive'"));
  EXPECT_TRUE(contains(complaint("acquire ann src/a tll=5m -> granted\n"), "acquire does not know 'tll='"));
  EXPECT_TRUE(contains(complaint("acquire ann -> granted\n"), "a path is missing"));
  EXPECT_TRUE(contains(complaint("acquire -> granted\n"), "OWNER is missing"));
  EXPECT_TRUE(contains(complaint("transfer ann all -> moved\n"), "to= is missing"));
  EXPECT_TRUE(contains(complaint("acquire ann src/a ttl=long -> granted\n"), "ttl 'long' is not a time"));
  EXPECT_TRUE(
      contains(complaint("acquire ann src/a priority=high -> granted\n"), "priority=high is not a number"));
  EXPECT_TRUE(contains(complaint("release ann id=l7 -> released\n"), "no lease was called l7 yet"));
  EXPECT_TRUE(contains(complaint("poll ann -> granted\n"), "ann has not waited"));
}

TEST(ScenarioRunner, LetsNobodyCallFromTheGrave) {
  EXPECT_TRUE(
      contains(complaint("kill ann\nacquire ann src/a -> granted\n"), "'restart ann' gives it a new one"));
  EXPECT_EQ(complaint("kill ann\nrestart ann\nacquire ann src/a -> granted\n"), "");
}

TEST(ScenarioRunner, WantsAnAnswerExactlyWhereThereIsOne) {
  EXPECT_TRUE(contains(complaint("acquire ann src/a\n"), "answered: -> granted"));
  EXPECT_TRUE(contains(complaint("advance 5m -> granted\n"), "'advance' is not answered"));
}

TEST(ScenarioRunner, WantsAScriptToSayWhatItIsAbout) {
  EXPECT_EQ(play("acquire ann src/a -> granted\n", memory()).failures.size(), 1u);
  EXPECT_EQ(play("#\nacquire ann src/a -> granted\n", memory()).failures.size(), 1u);
  EXPECT_EQ(play("# Nothing happens.\n", memory()).failures.size(), 1u);
  EXPECT_EQ(play("", memory()).failures.size(), 1u);
}

TEST(ScenarioRunner, ExplainsLinesItCannotRead) {
  EXPECT_TRUE(contains(complaint("acquire ann src/a reason=\"x -> granted\n"), "2: a quote is not closed"));
  EXPECT_TRUE(contains(complaint("acquire ann src/a -> granted twice\n"), "'twice' is a second one"));
  EXPECT_TRUE(contains(complaint("acquire ann src/a -> token=t1\n"), "starts with a word"));
  EXPECT_TRUE(
      contains(complaint("advance 5m\n  held by=ann\n"), "3: an indented line is a row of an answer"));
}

TEST(ScenarioRunner, RewritesAnswersInThePairsThatAreThere) {
  const Played played = play_steps(
      "# A comment stays.\n"
      "acquire ann src/a    -> busy token=t9 colour=red\n"
      "\n"
      "acquire bob src/a wait -> granted\n"
      "status src/a -> free\n"
      "  held by=nobody\n"
      "advance 1m\n"
      "release ann src/a -> released\n");

  EXPECT_EQ(played.rewritten,
            "# A test of the runner.\n"
            "# A comment stays.\n"
            "acquire ann src/a    -> granted token=t1\n"
            "\n"
            "acquire bob src/a wait -> queued\n"
            "status src/a -> held\n"
            "  held by=ann\n"
            "  waits by=bob\n"
            "advance 1m\n"
            "release ann src/a -> released wakes=bob\n");
  EXPECT_TRUE(play(played.rewritten, memory()).failures.empty());
}

TEST(DurationText, ReadsWhatItWrites) {
  using namespace std::chrono_literals;
  for (const Duration duration :
       {Duration(0), Duration(1), 5min + 0ms, 90min + 250ms, 49h + 1s + 0ms, -10s + 0ms}) {
    EXPECT_EQ(parse_duration(to_text(duration)), duration) << to_text(duration);
  }
  for (const char* text : {"", "-", "5", "m", "5x", "5m-1s", "1.5h", "5 m"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace leasehold::scenario
