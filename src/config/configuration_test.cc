#include "config/configuration.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "util/duration_text.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

class Config : public testing::Test {
 protected:
  std::unique_ptr<Configuration> read() {
    sources_.environment = [this](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
    auto config = Configuration::read(sources_);
    EXPECT_TRUE(config) << config.error().message;
    return config ? std::move(*config) : nullptr;
  }
  Error refused() {
    sources_.environment = [this](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
    const auto config = Configuration::read(sources_);
    EXPECT_FALSE(config);
    return config ? Error{} : config.error();
  }
  static SettingsFile file(const std::string& text) { return {"a.toml", *parse_toml(text)}; }

  ConfigSources sources_;
  std::map<std::string, std::string> variables;
};

TEST_F(Config, HasTheThreeProfiles) {
  const Policy agent = read()->policy_without_store();
  EXPECT_EQ(agent.ttl, 5min);
  EXPECT_EQ(agent.ttl_max, 1h);
  EXPECT_EQ(agent.rate_limit, 0U);

  variables["LEASE_PROFILE"] = "session";
  const Policy session = read()->policy_without_store();
  EXPECT_EQ(session.ttl, 30s);
  EXPECT_EQ(session.ttl_max, 300s);
  EXPECT_EQ(session.rate_limit, 60U);
  EXPECT_EQ(session.rate_window, 60s);

  variables["LEASE_PROFILE"] = "job";
  const Policy job = read()->policy_without_store();
  EXPECT_EQ(job.ttl, 1h);
  EXPECT_EQ(job.ttl_max, 24h);
  EXPECT_EQ(job.wait_max, 30s);
  EXPECT_EQ(job.cleanup_interval, 5min);
  EXPECT_EQ(job.history_life, 24h * 30);
  EXPECT_EQ(job.max_renewals, -1);
}

TEST_F(Config, KnowsTheOlderNamesUnderTheProfileSessionOnly) {
  variables = {{"LOCK_TTL_MS", "1500"},
               {"LOCK_RATE_LIMIT_PER_MIN", "7"},
               {"LOCK_RATE_LIMIT_WINDOW_MS", "2000"},
               {"LOCK_HISTORY_TTL_SEC", "90"},
               {"REDIS_URL", "redis://elsewhere"}};
  EXPECT_EQ(read()->policy_without_store().ttl, 5min);
  EXPECT_EQ(read()->store_url().value, "");

  variables["LEASE_PROFILE"] = "session";
  const Policy policy = read()->policy_without_store();
  EXPECT_EQ(policy.ttl, 1500ms);
  EXPECT_EQ(policy.rate_limit, 7U);
  EXPECT_EQ(policy.rate_window, 2s);
  EXPECT_EQ(policy.session_life, 90s);
  EXPECT_EQ(read()->store_url().value, "redis://elsewhere");
  for (const char* none : {"0", "-1"}) {
    variables["LOCK_HISTORY_TTL_SEC"] = none;
    EXPECT_EQ(read()->policy_without_store().session_life, std::nullopt) << none;
  }

  variables["LEASE_TTL"] = "2s";
  EXPECT_EQ(read()->policy_without_store().ttl, 2s) << "our own name goes first";
}

TEST_F(Config, SaysHowLargeANumberMayBe) {
  variables = {{"LEASE_PROFILE", "session"}, {"LOCK_HISTORY_TTL_SEC", "9223372036"}};
  const std::string why = refused().message;
  EXPECT_NE(why.find("a whole number up to 1000000000"), std::string::npos) << why;

  variables["LOCK_HISTORY_TTL_SEC"] = "-9223372036854775808";
  EXPECT_EQ(read()->policy_without_store().session_life, std::nullopt);
}

TEST_F(Config, SaysWhereANamespaceBelongs) {
  sources_.project = file("ttl = \"7s\"\nnamespace = \"\"\n");
  const Error error = refused();
  EXPECT_EQ(error.code, Code::config_error);
  EXPECT_NE(error.message.find("a.toml:2: namespace"), std::string::npos) << error.message;
}

TEST_F(Config, LeavesToAServerWhatNoRequestCanSay) {
  sources_.project = file("ttl = \"7s\"\ngate_retry = \"1s\"\ngate_reads = true\n");
  variables["LEASE_WAITING"] = "false";
  const auto config = read();
  const auto notes = config->leave_to_server();

  ASSERT_TRUE(notes);
  ASSERT_EQ(notes->size(), 2u);
  EXPECT_NE(notes->front().find("waiting (environment LEASE_WAITING) does not count"), std::string::npos);
  EXPECT_NE(notes->back().find("gate_retry (a.toml:2) does not count"), std::string::npos) << notes->back();
  EXPECT_EQ(config->said("ttl"), 7'000);
  EXPECT_EQ(config->said("gate_retry"), std::nullopt);
  EXPECT_TRUE(config->is_on("gate_reads")) << "hooks go by it themselves";

  sources_.flags["gate_retry"] = "1s";
  const auto refused = read()->leave_to_server();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid_argument);
}

TEST_F(Config, TakesTheStoreFromItsOwnVariableBeforeTheOlderOne) {
  variables["LOCK_REDIS_URL"] = "redis://old";
  EXPECT_EQ(read()->store_url().value, "redis://old");
  EXPECT_EQ(read()->store_url().source, "environment LOCK_REDIS_URL");
  variables["LEASE_STORE"] = "sqlite:/x";
  EXPECT_EQ(read()->store_url().value, "sqlite:/x");
}

TEST_F(Config, ReadsEveryKindOfValueInAFile) {
  sources_.project = file("ttl = \"90s\"\nmax_renewals = 3\nwaiting = false\nhistory_life = \"2d\"\n");
  const Policy policy = read()->policy_without_store();
  EXPECT_EQ(policy.ttl, 90s);
  EXPECT_EQ(policy.max_renewals, 3);
  EXPECT_FALSE(policy.waiting_allowed);
  EXPECT_EQ(policy.history_life, 48h);
}

TEST_F(Config, SaysWhereAWrongValueStands) {
  sources_.project = file("\nttl = 5\n");
  EXPECT_EQ(refused().code, Code::config_error);
  EXPECT_TRUE(refused().message.starts_with("a.toml:2: ttl is \"5\"")) << refused().message;

  sources_.project = file("ttl = [1]\n");
  EXPECT_TRUE(refused().message.starts_with("a.toml:1: ttl has to be")) << refused().message;

  sources_.project.reset();
  variables["LEASE_KEEP_HISTORY"] = "perhaps";
  EXPECT_TRUE(refused().message.starts_with("environment LEASE_KEEP_HISTORY: ")) << refused().message;

  variables = {{"LEASE_PROFILE", "nobody"}};
  EXPECT_EQ(refused().code, Code::config_error);

  variables.clear();
  sources_.flags = {{"ttl", "0s"}};
  EXPECT_EQ(refused().code, Code::invalid_argument);
  sources_.flags = {{"tll", "5m"}};
  EXPECT_EQ(refused().code, Code::invalid_argument);
  sources_.flags = {{"default_ttl_seconds", "300"}};
  EXPECT_EQ(refused().message,
            "The setting \"default_ttl_seconds\" is called so in a store only. Here it is ttl.");
}

TEST_F(Config, AProfilesRowBeatsTheOneForAllAndABadRowIsPassedOver) {
  const Setting global = {.key = "default_ttl_seconds", .value = "100", .type = "int"};
  const Setting job = {
      .key = "default_ttl_seconds", .scope = "profile", .resource = "job", .value = "200", .type = "int"};
  const Setting bad = {.key = "max_renewals", .value = "many", .type = "int"};

  EXPECT_EQ(read()->policy({global, job, bad}).ttl, 100s);
  variables["LEASE_PROFILE"] = "job";
  EXPECT_EQ(read()->policy({global, job, bad}).ttl, 200s);
  EXPECT_EQ(read()->policy({job, global, bad}).ttl, 200s);
  EXPECT_EQ(read()->policy({bad}).max_renewals, -1);
}

TEST_F(Config, OnlyTheBuiltInTermIsCutToTheCapHere) {
  sources_.flags = {{"ttl_max", "1m"}};
  EXPECT_EQ(read()->policy_without_store().ttl, 1min);

  sources_.flags.emplace("ttl", "2m");
  EXPECT_EQ(read()->policy_without_store().ttl, 2min) << "its acquires have to say that they cut it";
}

TEST_F(Config, ALongTimeInAStoreDoesNotOverflow) {
  const Setting retention = {.key = "history_retention_days", .value = "1000000000", .type = "int"};
  EXPECT_EQ(read()->policy({retention}).history_life, kLongestDuration);
}

TEST_F(Config, EverySettingOfTheTableCanBeSetAndShown) {
  for (const SettingSpec& spec : setting_specs()) {
    const std::string text = spec.kind == SettingKind::flag       ? "false"
                             : spec.kind == SettingKind::duration ? "2d"
                                                                  : "3";
    sources_.flags = {{std::string(spec.name), text}, {"ttl_max", "10d"}};
    const auto all = read()->explain({});
    const auto found = std::ranges::find(all, spec.name, &EffectiveSetting::name);
    ASSERT_NE(found, all.end()) << spec.name;
    EXPECT_EQ(found->source, "flag");
    if (spec.name != "ttl_max") {
      EXPECT_EQ(found->value, text) << spec.name;
      if (spec.kind == SettingKind::flag) {
        EXPECT_FALSE(read()->is_on(spec.name)) << spec.name;
      }
      if (spec.name == "gate_stale_read") continue;  // The engine does not go by it.
      Policy policy = read()->policy_without_store();
      EXPECT_EQ(setting_text(spec, spec.field.current(policy)), text) << spec.name;
    }
  }
}

TEST_F(Config, AFlagIsAskedByItsName) {
  EXPECT_TRUE(read()->is_on("gate_stale_read")) << "built-in";
  EXPECT_FALSE(read()->is_on("gate_reads"));
  sources_.flags = {{"gate_stale_read", "false"}, {"gate_reads", "true"}};
  EXPECT_FALSE(read()->is_on("gate_stale_read"));
  EXPECT_TRUE(read()->is_on("gate_reads"));
}

TEST(StoredSetting, IsMadeFromWhatPeopleWrite) {
  EXPECT_EQ(stored_setting("ttl", "10m", "")->value, "600");
  EXPECT_EQ(stored_setting("default_ttl_seconds", "600", "job")->stored_key(),
            "default_ttl_seconds@profile:job");
  EXPECT_EQ(stored_setting("waiting", "false", "")->type, "bool");
  EXPECT_EQ(stored_setting("history_life", "2d", "")->value, "2");
  for (const auto& [name, value] : {std::pair("history_life", "36h"), std::pair("ttl", "600"),
                                    std::pair("nothing", "1"), std::pair("ttl", "-5m")}) {
    EXPECT_EQ(stored_setting(name, value, "").error().code, Code::invalid_argument) << name << value;
  }
  EXPECT_EQ(stored_setting("ttl", "10m", "nobody").error().code, Code::invalid_argument);
}

TEST(CheckSetting, RefusesWhatCountsOnlyWithoutTheStore) {
  for (const char* key : {"gate_reads", "gate_stale_read", "gate_fail_open", "git_hook_required"}) {
    const auto checked = check_setting({.key = key, .value = "true"});
    ASSERT_FALSE(checked) << key;
    EXPECT_TRUE(checked.error().message.contains(".leasehold.toml")) << checked.error().message;
    EXPECT_EQ(stored_setting(key, "true", "")->stored_key(), key) << "an old row has to be named to go";
  }
  EXPECT_TRUE(check_setting({.key = "gate_retry_seconds", .value = "60"}));
}

TEST(CheckSetting, RefusesWhatCannotBeStoredOrCannotBeRight) {
  const auto code = [](Setting setting) {
    const auto checked = check_setting(std::move(setting));
    return checked ? std::nullopt : std::optional(checked.error().code);
  };
  EXPECT_EQ(code({.key = "my.own", .value = "x"}), std::nullopt);
  EXPECT_EQ(code({.key = "max_renewals", .value = "-1"}), std::nullopt);
  for (const Setting& wrong :
       {Setting{.key = "", .value = "x"}, Setting{.key = "a@b", .value = "x"},
        Setting{.key = "a", .scope = "profile", .value = "x"},
        Setting{.key = "a", .resource = "r", .value = "x"},
        Setting{.key = "a", .scope = "x:y", .resource = "r"}, Setting{.key = "a", .value = "\xff"},
        Setting{.key = "a", .value = "x", .type = "date"}, Setting{.key = "keep_history", .value = "7"},
        Setting{.key = "max_renewals", .value = "-2"},
        Setting{.key = "default_ttl_seconds", .value = "10m"}}) {
    EXPECT_EQ(code(wrong), Code::invalid_argument) << wrong.stored_key() << "=" << wrong.value;
  }
}

}  // namespace
}  // namespace leasehold
