// Settings: the runtime configuration, known by its stored key.
#include <algorithm>
#include <optional>

#include "contract/store_contract.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

Setting setting(const std::string& key, const std::string& value) {
  return {.key = key,
          .scope = "profile",
          .resource = "mine",
          .value = value,
          .type = "int",
          .description = "how much",
          .requires_restart = true,
          .updated_at = ManualClock::kWallStart};
}

std::optional<Setting> find(View& view, const std::string& stored_key) {
  const auto settings = view.settings();
  const auto found = std::ranges::find(settings, stored_key, &Setting::stored_key);
  return found == settings.end() ? std::nullopt : std::optional(*found);
}

TEST_P(StoreContract, ASettingComesBackAsItWasPut) {
  Setting global = {.key = "plain", .value = "x\n\"y\" é", .updated_at = ManualClock::kWallStart};
  const auto writes = [&](Transaction& transaction) {
    transaction.put(setting("much", "7"));
    transaction.put(global);
  };

  expect_reads(writes, nothing_named(), [&](View& view) {
    EXPECT_EQ(find(view, "much@profile:mine"), setting("much", "7"));
    EXPECT_EQ(find(view, "plain"), global);
    EXPECT_EQ(find(view, "much"), std::nullopt);
  });
}

TEST_P(StoreContract, ASettingReplacesTheOneUnderItsKeyAndNoOther) {
  commit([](Transaction& transaction) {
    transaction.put(setting("much", "7"));
    transaction.put(Setting{.key = "much", .value = "1"});
  });
  clock.advance(90s);

  const auto writes = [](Transaction& transaction) {
    Setting changed = setting("much", "8");
    changed.requires_restart = false;
    transaction.put(changed);
  };

  expect_reads(writes, nothing_named(), [](View& view) {
    const auto found = find(view, "much@profile:mine");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->value, "8");
    EXPECT_FALSE(found->requires_restart);
    EXPECT_EQ(found->updated_at, std::chrono::floor<std::chrono::seconds>(ManualClock::kWallStart + 90s));
    EXPECT_EQ(find(view, "much")->value, "1");
  });
}

TEST_P(StoreContract, SettingsAreListedByTheirStoredKeys) {
  const auto writes = [](Transaction& transaction) {
    for (const char* key : {"b", "a", "c"}) transaction.put(setting(key, "1"));
  };

  expect_reads(writes, nothing_named(), [](View& view) {
    EXPECT_TRUE(std::ranges::is_sorted(view.settings(), {}, &Setting::stored_key));
  });
}

TEST_P(StoreContract, AnErasedSettingIsGoneAndErasingNoneIsNothing) {
  commit([](Transaction& transaction) { transaction.put(setting("much", "7")); });

  const auto writes = [](Transaction& transaction) {
    transaction.erase_setting("much@profile:mine");
    transaction.erase_setting("never");
  };

  expect_reads(writes, nothing_named(),
               [](View& view) { EXPECT_EQ(find(view, "much@profile:mine"), std::nullopt); });
}

TEST_P(StoreContract, AnAbortedBodyLeavesSettingsAsTheyWere) {
  commit([](Transaction& transaction) { transaction.put(setting("much", "7")); });

  abort([](Transaction& transaction) {
    transaction.put(setting("much", "8"));
    transaction.put(setting("more", "9"));
    transaction.erase_setting("much@profile:mine");
  });

  look([](View& view) {
    EXPECT_EQ(find(view, "much@profile:mine"), setting("much", "7"));
    EXPECT_EQ(find(view, "more@profile:mine"), std::nullopt);
  });
}

}  // namespace
}  // namespace leasehold
