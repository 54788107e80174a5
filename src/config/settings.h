// Every setting there is: what it is called in which place, what it may be, and where it goes.
//
//   .leasehold.toml, user file   ttl = "10m"
//   environment                  LEASE_TTL=10m; under the profile session also LOCK_TTL_MS=600000
//   lease_configs                default_ttl_seconds = 600
//   flags                        ttl, 10m
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/policy.h"
#include "leasehold/result.h"

namespace leasehold {

// The stored key that says since when some of history may be missing, because `keep_history` was off (Unix
// time). Not a setting: programs keep it for `lease doctor`.
inline constexpr const char* kHistoryLeftOut = "history_left_out_at";

enum class SettingKind { number, flag, duration };

// Where a setting goes. Flags are 0 or 1, durations milliseconds.
struct PolicyField {
  void (*apply)(Policy&, std::int64_t value);
  std::int64_t (*current)(const Policy&);
};

struct SettingSpec {
  std::string_view name;
  SettingKind kind{};
  std::string_view stored_key;    // In lease_configs.
  Duration stored_unit{};         // What a stored number of a duration counts.
  std::string_view session_name;  // Its variable under the profile session; empty: none.
  Duration session_unit{};
  std::string_view description;

  PolicyField field;
  std::int64_t least = 0;
  // Hooks go by it before they ask the store, or because they cannot: what a store says would not count.
  bool is_local = false;
  bool is_in_requests = false;  // Who asks a server can say it with each request.
};

std::span<const SettingSpec> setting_specs();

// By its name or its stored key; null: there is none.
const SettingSpec* find_setting(std::string_view name);

// Values as people write them (10m, true, 60) and as a store or an older program has them (600, true, 60).
// Errors: invalid_argument; the message says what it may be, and is to be put behind where it stands.
Result<std::int64_t> parse_setting(const SettingSpec& spec, std::string_view text);
Result<std::int64_t> parse_setting(const SettingSpec& spec, std::string_view text, Duration unit);

std::string setting_text(const SettingSpec& spec, std::int64_t value);
std::string stored_text(const SettingSpec& spec, std::int64_t value);

// The variable that sets it: LEASE_TTL.
std::string environment_name(const SettingSpec& spec);

}  // namespace leasehold
