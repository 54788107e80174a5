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

// LEASEHOLD_SIMULATION_SEED=n runs that one alone, and shows all of it.
TEST(Simulation, NoSeedBreaksAnInvariant) {
  if (const auto seed = number_from("LEASEHOLD_SIMULATION_SEED")) {
    const SeedRun run = simulate(*seed);
    std::cout << report(run, true);
    EXPECT_FALSE(run.violation);
    return;
  }

  const std::uint64_t seeds = number_from("LEASEHOLD_SIMULATION_SEEDS").value_or(kSeeds);
  ASSERT_GT(seeds, 0u) << "no seed, no test";
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
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
  std::uint64_t seed = 1;
  while (!simulate(seed, PlantedBug::release_without_token_check).violation) ++seed;

  const SeedRun first = simulate(seed, PlantedBug::release_without_token_check);
  const SeedRun second = simulate(seed, PlantedBug::release_without_token_check);

  EXPECT_EQ(report(first, true), report(second, true));
}

class PlantedBugs : public testing::TestWithParam<PlantedBugName> {};

TEST_P(PlantedBugs, AreFoundSoon) {
  for (std::uint64_t seed = 1; seed <= kSeedsToFindABug; ++seed) {
    const SeedRun run = simulate(seed, GetParam().bug);
    if (!run.violation) continue;
    std::cout << GetParam().name << " is found by seed " << seed << ": " << run.violation->invariant << ", "
              << run.violation->text << "\n";
    EXPECT_TRUE(GetParam().breaks.contains(run.violation->invariant)) << report(run, false);
    return;
  }
  FAIL() << GetParam().name << " is not found by " << kSeedsToFindABug << " seeds";
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBugs, testing::ValuesIn(planted_bugs()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace leasehold::simulation
