// Where each setting comes from. The first that says something counts:
//
//   flag > environment > .leasehold.toml > user file > the store's lease_configs > built-in (of the profile)
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/settings.h"
#include "leasehold/calls.h"
#include "leasehold/config.h"
#include "leasehold/result.h"
#include "util/toml.h"
#include "util/variables.h"

namespace leasehold {

struct SettingsFile {
  std::string name;  // For messages.
  TomlTable table;
};

// What stands in a file and is no setting, as a note for people: a word misspelled there is without effect.
std::vector<std::string> unknown_settings(std::string_view file, const TomlTable& table);

struct ConfigSources {
  std::map<std::string, std::string> flags;  // By the setting's name.
  Variables environment;                     // Like getenv(3). Empty: nothing is set.
  std::optional<SettingsFile> project;
  std::optional<SettingsFile> user;
};

// Thread-safe.
class Configuration {
 public:
  // Reads everything but the store's part. Errors: config_error (naming the place), invalid_argument (a
  // flag).
  static Result<std::unique_ptr<Configuration>> read(const ConfigSources& sources);

  const EffectiveSetting& store_url() const { return store_; }  // Value empty: the embedded store.
  const EffectiveSetting& profile() const { return profile_; }

  // What the rules go by, given what the store has. A row that a program of another kind left there and that
  // cannot be right is passed over. From the second call on, a row that requires a restart counts as it was
  // at the first.
  Policy policy(std::vector<Setting> stored);

  // The same while the store was not asked yet.
  Policy policy_without_store() const;

  // A flag by its name, while the store was not asked yet.
  bool is_on(std::string_view name) const;

  // A server decides by its own settings: those that it cannot be told with each request are dropped. Returns
  // a note for people about each. Error: invalid_argument (one is a flag).
  Result<std::vector<std::string>> leave_to_server();

  // What the sources before the store say. Nothing: they do not.
  std::optional<std::int64_t> said(std::string_view name) const;

  // What all sources but the store say, as one line: with equal ones two processes decide alike on one store.
  std::string fingerprint() const;

  // The same for people: profile, store, then every setting.
  std::vector<EffectiveSetting> explain(std::vector<Setting> stored);

 private:
  struct Known {
    std::int64_t value = 0;
    std::string source;
  };

  Configuration() = default;
  Result<void> read_text(const ConfigSources& sources, std::string_view name,
                         const std::vector<const char*>& variables, EffectiveSetting& setting) const;
  Result<std::optional<Known>> from_sources(const ConfigSources& sources, const SettingSpec& spec) const;
  std::optional<Known> from_store(const SettingSpec& spec, std::span<const Setting> stored) const;
  Policy policy_of(std::span<const Setting> stored) const;
  void keep_what_needs_restart(std::vector<Setting>& stored);

  EffectiveSetting store_;
  EffectiveSetting profile_;
  Policy built_in_;
  std::map<std::string_view, Known> known_;  // What the sources before the store say.

  std::mutex mutex_;
  std::optional<std::vector<Setting>> in_force_;
};

// Whether a row may be put into lease_configs: value and type fit, and a key that means something has a value
// it can have and means something there. Fills in type and description of a key that means something. Error:
// invalid_argument.
Result<Setting> check_setting(Setting setting);

// A row for the store from a setting's name (or stored key) and a value as people write it. An empty profile:
// for everybody. Errors: invalid_argument.
Result<Setting> stored_setting(std::string_view name, std::string_view value, std::string_view profile);

}  // namespace leasehold
