#include "store/sqlite/bells.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "env/child.h"
#include "support/records.h"
#include "support/temp_folder.h"

namespace leasehold::sqlite {
namespace {

namespace fs = std::filesystem;

// Far more than it should ever need.
constexpr int kPatienceMs = 10'000;

bool is_rung(const Bell& bell, int patience_ms = 0) {
  pollfd waiting{bell.fd(), POLLIN, 0};
  return poll(&waiting, 1, patience_ms) == 1 && (waiting.revents & POLLIN) != 0;
}

bool wait_for(const std::string& path) {
  for (int i = 0; i < 10'000 && !fs::exists(path); ++i) usleep(1'000);
  return fs::exists(path);
}

std::size_t pipes_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Bells, ARingReachesAnotherProcess) {
  const TempFolder folder;
  const Child listener([&] {
    const auto bell = Bells(folder.path()).listen(group_id(1));
    std::ofstream(folder.path() + "/listening").close();
    return std::string(is_rung(**bell, kPatienceMs) ? "rung" : "silence");
  });
  ASSERT_TRUE(wait_for(folder.path() + "/listening"));

  Bells(folder.path()).ring(group_id(1));

  EXPECT_EQ(listener.answer(), "rung");
}

TEST(Bells, EveryListenerOfATicketHearsIt) {
  const TempFolder folder;
  const auto one = Bells(folder.path()).listen(group_id(1)).value();
  const auto two = Bells(folder.path()).listen(group_id(1)).value();
  const auto other = Bells(folder.path()).listen(group_id(2)).value();

  Bells(folder.path()).ring(group_id(1));

  EXPECT_TRUE(is_rung(*one));
  EXPECT_TRUE(is_rung(*two));
  EXPECT_FALSE(is_rung(*other));
}

TEST(Bells, AListenerThatLeavesTakesNothingFromTheOthers) {
  const TempFolder folder;
  auto one = Bells(folder.path()).listen(group_id(1)).value();
  const auto two = Bells(folder.path()).listen(group_id(1)).value();

  one.reset();
  Bells(folder.path()).ring(group_id(1));

  EXPECT_TRUE(is_rung(*two));
}

TEST(Bells, TheLastListenerTakesThePipeAlong) {
  const TempFolder folder;
  auto one = Bells(folder.path()).listen(group_id(1)).value();
  auto two = Bells(folder.path()).listen(group_id(1)).value();

  one.reset();
  EXPECT_EQ(pipes_in(folder.path()), 1U);
  two.reset();
  EXPECT_EQ(pipes_in(folder.path()), 0U);
}

// Has waited twice, the second time for ticket 2.
Bells kept_in(const TempFolder& folder) {
  const Bells bells(folder.path());
  for (const int number : {1, 2}) (void)bells.listen(group_id(number)).value();
  return bells;
}

TEST(Bells, WhoWaitsAgainAndAgainUsesOnePipe) {
  const TempFolder folder;
  {
    const Bells bells = kept_in(folder);
    EXPECT_EQ(pipes_in(folder.path()), 1U);

    const auto bell = bells.listen(group_id(3)).value();
    EXPECT_EQ(pipes_in(folder.path()), 1U);
    EXPECT_FALSE(is_rung(*bell));
    bells.ring(group_id(3));
    EXPECT_TRUE(is_rung(*bell));
  }
  EXPECT_EQ(pipes_in(folder.path()), 0U);
}

TEST(Bells, AKeptPipeSaysNothingOfItsLastTicket) {
  const TempFolder folder;
  const Bells bells = kept_in(folder);
  bells.ring(group_id(2));

  const auto bell = bells.listen(group_id(3)).value();
  bells.ring(group_id(2));

  EXPECT_FALSE(is_rung(*bell));
}

TEST(Bells, AKeptPipeThatOthersListenToIsTheirs) {
  const TempFolder folder;
  const Bells bells = kept_in(folder);
  const auto theirs = Bells(folder.path()).listen(group_id(2)).value();

  const auto bell = bells.listen(group_id(3)).value();
  bells.ring(group_id(2));

  EXPECT_TRUE(is_rung(*theirs));
  EXPECT_FALSE(is_rung(*bell));
  bells.ring(group_id(3));
  EXPECT_TRUE(is_rung(*bell));
}

TEST(Bells, AKeptPipeTakesNobodysPlace) {
  const TempFolder folder;
  const Bells bells = kept_in(folder);
  const auto theirs = Bells(folder.path()).listen(group_id(3)).value();

  const auto bell = bells.listen(group_id(3)).value();
  bells.ring(group_id(3));

  EXPECT_TRUE(is_rung(*theirs));
  EXPECT_TRUE(is_rung(*bell));
}

// Two that wait in turn for tickets of each other's, while somebody clears: no ring is missed.
TEST(Bells, KeptPipesAreRungWhateverElseGoesOn) {
  const TempFolder folder;
  const Child cleaner([&]() -> std::string {
    for (;;) Bells(folder.path()).clear();
  });
  const Child other([&]() -> std::string {
    const Bells bells(folder.path());
    for (int i = 0;; ++i) (void)bells.listen(group_id(i % 5));
  });
  const Bells bells(folder.path());

  for (int i = 0; i < 2'000; ++i) {
    const auto bell = bells.listen(group_id(i % 7)).value();
    Bells(folder.path()).ring(group_id(i % 7));
    ASSERT_TRUE(is_rung(*bell)) << i;
  }
}

TEST(Bells, APipeOfAKilledListenerIsRemovedByTheNextRing) {
  const TempFolder folder;
  Child listener([&] {
    const auto bell = Bells(folder.path()).listen(group_id(1));
    return Child::rest();
  });
  ASSERT_TRUE(wait_for(folder.path() + "/" + group_id(1).text));
  listener.kill();
  listener.reap();

  Bells(folder.path()).ring(group_id(1));

  EXPECT_EQ(pipes_in(folder.path()), 0U);
}

TEST(Bells, WhatAKilledListenerLeftIsOfUseToTheNext) {
  const TempFolder folder;
  Child listener([&] {
    const auto bell = Bells(folder.path()).listen(group_id(1));
    return Child::rest();
  });
  ASSERT_TRUE(wait_for(folder.path() + "/" + group_id(1).text));
  listener.kill();
  listener.reap();

  const auto bell = Bells(folder.path()).listen(group_id(1)).value();
  EXPECT_FALSE(is_rung(*bell));
  Bells(folder.path()).ring(group_id(1));

  EXPECT_TRUE(is_rung(*bell));
}

// A waiter that was killed, and whose ticket is dropped, is never rung: somebody else has to clear up.
TEST(Bells, PipesThatNobodyListensToCanBeCleared) {
  const TempFolder folder;
  for (int i = 0; i < 5; ++i) {
    Child listener([&] {
      const auto bell = Bells(folder.path()).listen(group_id(i));
      return Child::rest();
    });
    ASSERT_TRUE(wait_for(folder.path() + "/" + group_id(i).text));
    listener.kill();
    listener.reap();
  }
  const auto kept = Bells(folder.path()).listen(group_id(99)).value();

  Bells(folder.path()).clear();

  EXPECT_EQ(pipes_in(folder.path()), 1U);
  Bells(folder.path()).ring(group_id(99));
  EXPECT_TRUE(is_rung(*kept));
}

// Whoever writes to a pipe nobody reads gets a signal that ends most programs.
TEST(Bells, ARingSurvivesAListenerThatLeavesMeanwhile) {
  const TempFolder folder;
  const Child listener([&]() -> std::string {
    for (;;) (void)Bells(folder.path()).listen(group_id(1));
  });
  const Child ringer([&] {
    for (int i = 0; i < 100'000; ++i) Bells(folder.path()).ring(group_id(1));
    return std::string("still here");
  });

  EXPECT_EQ(ringer.answer(), "still here");
}

TEST(Bells, AnIdThatIsNoFileNameDoesNothing) {
  const TempFolder folder;
  const std::string inner = folder.path() + "/bells";
  fs::create_directory(inner);
  std::ofstream(folder.path() + "/x") << "mine";

  for (const std::string& id : {std::string("../x"), std::string("/tmp/x"), std::string(), std::string("."),
                                std::string("a\0b", 3), std::string(300, 'a')}) {
    const auto bell = Bells(inner).listen({id});
    Bells(inner).ring({id});

    ASSERT_FALSE(bell) << id;
    EXPECT_EQ(bell.error().code, Code::invalid_argument);
  }
  EXPECT_EQ(pipes_in(inner), 0U);
  EXPECT_EQ(fs::file_size(folder.path() + "/x"), 4U);
}

TEST(Bells, ALinkInPlaceOfAPipeIsNotFollowed) {
  const TempFolder folder;
  const std::string target = folder.path() + "/target";
  std::ofstream(target) << "mine";
  fs::create_symlink(target, folder.path() + "/" + group_id(1).text);

  const auto bell = Bells(folder.path()).listen(group_id(1));
  Bells(folder.path()).ring(group_id(1));

  ASSERT_FALSE(bell);
  EXPECT_EQ(bell.error().code, Code::unavailable);
  EXPECT_EQ(fs::file_size(target), 4U);
}

TEST(Bells, AFolderThatIsGoneSaysSo) {
  const auto bell = Bells("/nonexistent/bells").listen(group_id(1));
  Bells("/nonexistent/bells").ring(group_id(1));

  ASSERT_FALSE(bell);
  EXPECT_EQ(bell.error().code, Code::unavailable);
  EXPECT_NE(bell.error().message.find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace leasehold::sqlite
