// Processes left in peace share the store evenly.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "processes/client.h"
#include "support/shared_memory.h"

namespace leasehold::processes {
namespace {

constexpr int kProcesses = 8;
constexpr Duration kRace = 2s;

struct Race {
  std::atomic<int> ready;
  std::atomic<bool> go;
  std::atomic<bool> over;
  std::atomic<int> pairs[kProcesses];
  std::atomic<std::int64_t> slowest_us[kProcesses];
};

void run(const std::string& folder, int number, Race& race) {
  Client client(folder);
  const Caller caller = this_process(client, fmt::format("runner {}", number));
  const AcquireRequest wanted = request(caller, {fmt::format("/file/{}", number)});
  const ReleaseRequest release = {.caller = caller, .which = {.paths = {wanted.paths[0].path}}};
  ++race.ready;
  while (!race.go) usleep(100);
  while (!race.over) {
    const auto begin = std::chrono::steady_clock::now();
    if (!client.manager.acquire(wanted) || !client.manager.release(release)) return;
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin)
            .count();
    if (race.over) return;
    ++race.pairs[number];
    race.slowest_us[number] = std::max(race.slowest_us[number].load(), took);
  }
}

TEST(Fairness, TheSlowestProcessGetsHalfOfWhatTheFastestGets) {
  const TempFolder temp;
  const std::string folder = temp.path() + "/store";
  const SharedMemory<Race> memory;
  Race& race = *memory;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(std::make_unique<Child>([&, i] {
      run(folder, i, race);
      return std::string();
    }));
  }
  ASSERT_TRUE(eventually([&] { return race.ready == kProcesses; }));

  race.go = true;
  usleep(static_cast<useconds_t>(std::chrono::microseconds(kRace).count()));
  race.over = true;
  ASSERT_TRUE(eventually(
      [&] { return std::ranges::all_of(children, [](const auto& one) { return has_ended(*one); }); }));

  int slowest = race.pairs[0];
  int fastest = race.pairs[0];
  int all = 0;
  std::int64_t longest_us = 0;
  std::string each;
  for (int i = 0; i < kProcesses; ++i) {
    slowest = std::min(slowest, race.pairs[i].load());
    fastest = std::max(fastest, race.pairs[i].load());
    longest_us = std::max(longest_us, race.slowest_us[i].load());
    all += race.pairs[i];
    each += fmt::format(" {}", race.pairs[i].load());
  }
  std::printf("pairs:%s; share %.2f; %d pairs/s; longest pair %.1f ms\n", each.c_str(),
              static_cast<double>(slowest) / fastest, all / 2, static_cast<double>(longest_us) / 1000);
  EXPECT_GE(2 * slowest, fastest) << each;
}

}  // namespace
}  // namespace leasehold::processes
