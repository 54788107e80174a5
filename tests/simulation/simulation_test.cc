#include "simulation/simulation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

namespace leasehold::simulation {
namespace {

// About 40 seconds of one core under the sanitizers. LEASEHOLD_SIMULATION_SEEDS sets another number.
constexpr std::uint64_t kSeeds = 800;
constexpr std::uint64_t kSeedsToFindABug = 2'000;

std::optional<std::uint64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::optional<std::uint64_t>(std::strtoull(text, nullptr, 10)) : std::nullopt;
}

// Each run sees seeds that no other has seen.
std::uint64_t first_of_this_minute() {
  const auto minutes =
      std::chrono::duration_cast<std::chrono::minutes>(std::chrono::system_clock::now().time_since_epoch());
  return static_cast<std::uint64_t>(minutes.count()) * kSeeds;
}

// Nothing if so many seeds do not find it.
std::optional<SeedRun> find_bug(PlantedBug bug) {
  for (std::uint64_t seed = 1; seed <= kSeedsToFindABug; ++seed) {
    SeedRun run = simulate(seed, bug);
    if (run.violation) return run;
  }
  return std::nullopt;
}

// LEASEHOLD_SIMULATION_SEED=n runs that one alone, and shows all of it.
TEST(Simulation, NoSeedBreaksAnInvariant) {
  if (const auto seed = number_from("LEASEHOLD_SIMULATION_SEED")) {
    const SeedRun run = simulate(*seed);
    std::cout << report(run, true);
    EXPECT_FALSE(run.violation);
    return;
  }

  const auto asked = number_from("LEASEHOLD_SIMULATION_SEEDS");
  const std::uint64_t seeds = asked.value_or(kSeeds);
  ASSERT_GT(seeds, 0u) << "no seed, no test";
  // Whoever asks for a number wants to find something new; a test of a change gives the same answer twice.
  const std::uint64_t first =
      number_from("LEASEHOLD_SIMULATION_FIRST").value_or(asked ? first_of_this_minute() : 1);
  std::cout << "the first seed is " << first << "; LEASEHOLD_SIMULATION_FIRST=" << first
            << " begins there again\n";
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const SeedRun run = simulate(seed);
    ASSERT_FALSE(run.violation) << report(run, false) << "Replay it: LEASEHOLD_SIMULATION_SEED=" << seed
                                << " simulation_tests --gtest_filter='Simulation.NoSeed*'";
  }
  const std::chrono::duration<double, std::ratio<60>> minutes = std::chrono::steady_clock::now() - start;
  std::cout << "simulated " << seeds << " seeds, "
            << static_cast<std::uint64_t>(static_cast<double>(seeds) / minutes.count()) << " a minute\n";
}

TEST(Simulation, TheSameSeedGivesTheSameTrace) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SeedRun first = simulate(seed);
    const SeedRun second = simulate(seed);

    EXPECT_EQ(first.trace, second.trace) << "seed " << seed;
    EXPECT_EQ(first.hash, second.hash) << "seed " << seed;
  }
}

TEST(Simulation, DifferentSeedsGiveDifferentTraces) { EXPECT_NE(simulate(1).hash, simulate(2).hash); }

// A failing seed stays the same one when it is run again: with its bug, the violation is found again.
TEST(Simulation, AFailingSeedFailsTheSameWayAgain) {
  const std::optional<SeedRun> first = find_bug(PlantedBug::release_without_owner_check);
  ASSERT_TRUE(first) << "not found by " << kSeedsToFindABug << " seeds";

  const SeedRun second = simulate(first->seed, PlantedBug::release_without_owner_check);

  EXPECT_EQ(report(*first, true), report(second, true));
}

class PlantedBugs : public testing::TestWithParam<PlantedBugName> {};

TEST_P(PlantedBugs, AreFoundSoon) {
  const std::optional<SeedRun> run = find_bug(GetParam().bug);
  ASSERT_TRUE(run) << GetParam().name << " is not found by " << kSeedsToFindABug << " seeds";
  std::cout << GetParam().name << " is found by seed " << run->seed << ": " << run->violation->invariant
            << ", " << run->violation->text << "\n";
  EXPECT_TRUE(GetParam().breaks.contains(run->violation->invariant)) << report(*run, false);
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBugs, testing::ValuesIn(planted_bugs()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace leasehold::simulation
