// Which workspaces are served, and for how long.
#include "daemon/services.h"

#include <gtest/gtest.h>

#include "daemon/served_world.h"

namespace leasehold::daemon {
namespace {

using namespace std::chrono_literals;

constexpr int kManagersMax = 10'000;

struct Workspaces : testing::Test, ServedWorld {
  std::shared_ptr<LeaseManager> manager(const std::string& workspace) {
    const auto found = services.manager(workspace, "");
    return found ? *found : nullptr;
  }
  std::size_t count() { return services.managers().size(); }
};

TEST_F(Workspaces, MadeUpNamesKeepNobodyOut) {
  const auto in_use = manager("in use");
  LeaseManager* const here = manager("").get();
  for (int i = 0; i < kManagersMax; ++i) ASSERT_TRUE(manager("made up " + std::to_string(i)));

  EXPECT_TRUE(manager("real"));

  EXPECT_LE(count(), static_cast<std::size_t>(kManagersMax));
  EXPECT_EQ(manager("in use"), in_use);
  EXPECT_EQ(manager("").get(), here);
  made = 0;
  EXPECT_TRUE(manager("made up 0"));
  EXPECT_EQ(made, 1) << "it was dropped, and is there again for whoever asks";
}

TEST_F(Workspaces, ThoseInUseStayUntilThereIsNoRoom) {
  std::vector<std::shared_ptr<LeaseManager>> all;
  for (int i = 0; i < kManagersMax; ++i) all.push_back(manager("w" + std::to_string(i)));

  EXPECT_EQ(services.manager("one more", "").error().code, Code::limit_exceeded);

  all.pop_back();
  EXPECT_TRUE(manager("one more"));
}

TEST_F(Workspaces, ThoseWhereSomebodyMayHoldSomethingStay) {
  const auto held = [&] { return manager("held").get(); };
  LeaseManager* const first = held();
  services.note_taken("held", "");
  for (int i = 0; i < 2 * kManagersMax; ++i) ASSERT_TRUE(manager("made up " + std::to_string(i)));

  EXPECT_EQ(held(), first);
}

TEST_F(Workspaces, RetireWhenNobodyUsesThemOrHasAskedLately) {
  const auto in_use = manager("in use");
  for (const char* name : {"", "idle", "idles"}) manager(name);
  const auto later = Services::Clock::now() + 1h;

  services.retire("idle", Services::Clock::now() - 1h);
  EXPECT_EQ(count(), 4u);
  for (const char* name : {"idle", "in use", "here", "unknown"}) services.retire(name, later);

  EXPECT_EQ(count(), 3u);
  made = 0;
  EXPECT_EQ(manager("in use"), in_use);
  EXPECT_TRUE(manager("idles"));
  EXPECT_EQ(made, 0);
}

}  // namespace
}  // namespace leasehold::daemon
