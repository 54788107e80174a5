// What the daemon knows of its store when it starts again.
#include "daemon/store_memory.h"

#include <gtest/gtest.h>

#include "daemon/served_world.h"
#include "support/temp_folder.h"

namespace leasehold::daemon {
namespace {

struct Remembering : testing::Test, ServedWorld {
  std::unique_ptr<StoreMemory> start(const std::string& file) {
    auto memory = StoreMemory::open(services, folder.path() + "/" + file);
    return memory ? *std::move(memory) : nullptr;
  }

  TempFolder folder;
};

TEST_F(Remembering, TwoThatBeginAtOnceOnANewStoreBothKnowItAgain) {
  const auto first = start("first");
  const auto second = start("second");

  ASSERT_TRUE(first->save({7}));
  ASSERT_TRUE(second->save({5}));

  EXPECT_EQ(start("first")->refusal(), "");
  EXPECT_EQ(start("second")->refusal(), "");
}

TEST_F(Remembering, AStoreThatKnowsLessIsNoticed) {
  ASSERT_TRUE(start("file")->save({7}));
  ASSERT_TRUE((*services.manager("", ""))
                  ->put_setting({.key = "served_highest_token", .value = "6", .type = "string"}));

  EXPECT_NE(start("file")->refusal(), "");
}

}  // namespace
}  // namespace leasehold::daemon
