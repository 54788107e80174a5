#include "config/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "util/duration_text.h"
#include "util/number.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Reads and writes one member of a policy, as a number.
template <auto member>
constexpr PolicyField of() {
  using Field = std::remove_cvref_t<decltype(std::declval<Policy>().*member)>;
  return {
      .apply = [](Policy& policy, std::int64_t value) { policy.*member = Field(static_cast<Field>(value)); },
      .current = [](const Policy& policy) -> std::int64_t {
        if constexpr (std::is_same_v<Field, Duration>) {
          return (policy.*member).count();
        } else {
          return static_cast<std::int64_t>(policy.*member);
        }
      }};
}

// A duration that there may be none of: as a number 0, or less.
template <auto member>
constexpr PolicyField of_optional() {
  return {.apply =
              [](Policy& policy, std::int64_t value) {
                policy.*member = value <= 0 ? std::nullopt : std::optional(Duration(value));
              },
          .current =
              [](const Policy& policy) {
                return static_cast<std::int64_t>((policy.*member).value_or(Duration::zero()).count());
              }};
}

// The engine does not go by it: what it says is asked by name (Configuration::is_on).
constexpr PolicyField kOnElsewhere = {.apply = [](Policy&, std::int64_t) {},
                                      .current = [](const Policy&) { return std::int64_t{1}; }};

constexpr auto kNumber = SettingKind::number;
constexpr auto kFlag = SettingKind::flag;
constexpr auto kDuration = SettingKind::duration;

// The stored keys up to history_retention_days are seed 003's; never renamed.
// clang-format off: a table.
constexpr SettingSpec kSpecs[] = {
    {.name = "ttl", .kind = kDuration, .stored_key = "default_ttl_seconds", .stored_unit = 1s,
     .session_name = "LOCK_TTL_MS", .session_unit = 1ms, .description = "TTL of a new lease",
     .field = of<&Policy::ttl>(), .least = 1, .is_in_requests = true},
    {.name = "max_renewals", .kind = kNumber, .stored_key = "max_renewals",
     .description = "How often a lease may be renewed; -1: no limit",
     .field = of<&Policy::max_renewals>(), .least = -1, .is_in_requests = true},
    {.name = "wait_max", .kind = kDuration, .stored_key = "acquisition_timeout_ms", .stored_unit = 1ms,
     .description = "How long an acquire waits at most, and if it does not say; 0s: as long as it says",
     .field = of_optional<&Policy::wait_max>(), .is_in_requests = true},
    {.name = "cleanup_interval", .kind = kDuration, .stored_key = "cleanup_interval_seconds",
     .stored_unit = 1s, .description = "Time between two cleanups",
     .field = of<&Policy::cleanup_interval>(), .least = 1},
    {.name = "auto_expire", .kind = kFlag, .stored_key = "auto_expire_enabled",
     .description = "Whether what ended is recorded by the way; it is in nobody's way in any case",
     .field = of<&Policy::auto_expire>()},
    {.name = "waiting", .kind = kFlag, .stored_key = "blocking_mode_enabled",
     .description = "Whether an acquire may wait", .field = of<&Policy::waiting_allowed>()},
    {.name = "keep_history", .kind = kFlag, .stored_key = "keep_history",
     .description = "Whether history is kept", .field = of<&Policy::keep_history>()},
    {.name = "history_life", .kind = kDuration, .stored_key = "history_retention_days", .stored_unit = 24h,
     .description = "How long history is kept", .field = of<&Policy::history_life>(), .least = 1},
    {.name = "ttl_max", .kind = kDuration, .stored_key = "max_ttl_seconds", .stored_unit = 1s,
     .description = "Longest TTL there is; more is cut to it", .field = of<&Policy::ttl_max>(), .least = 1},
    {.name = "rate_limit", .kind = kNumber, .stored_key = "rate_limit_calls",
     .session_name = "LOCK_RATE_LIMIT_PER_MIN",
     .description = "Acquire calls of a session in one window; 0: no limit",
     .field = of<&Policy::rate_limit>()},
    {.name = "rate_window", .kind = kDuration, .stored_key = "rate_limit_window_ms", .stored_unit = 1ms,
     .session_name = "LOCK_RATE_LIMIT_WINDOW_MS", .session_unit = 1ms,
     .description = "The window of the rate limit", .field = of<&Policy::rate_window>(), .least = 1},
    {.name = "session_history_life", .kind = kDuration, .stored_key = "session_history_ttl_seconds",
     .stored_unit = 1s, .session_name = "LOCK_HISTORY_TTL_SEC", .session_unit = 1s,
     .description =
         "How long it is remembered what a session had (profile session); 0s: until it is given back",
     .field = of_optional<&Policy::session_life>(), .least = INT64_MIN},
    {.name = "silence_max", .kind = kDuration, .stored_key = "silence_max_seconds", .stored_unit = 1s,
     .description = "How long an agent that is seen alive may be silent",
     .field = of<&Policy::silence_max>(), .least = 1},
    {.name = "idle_grace", .kind = kDuration, .stored_key = "idle_grace_seconds", .stored_unit = 1s,
     .description = "From the end of a turn to the end of its leases", .field = of<&Policy::idle_grace>()},
    {.name = "gate_retry", .kind = kDuration, .stored_key = "gate_retry_seconds", .stored_unit = 1s,
     .description = "From a denial at the gate to its one retry",
     .field = of<&Policy::gate_retry>(), .least = 1},
    {.name = "gate_reads", .kind = kFlag, .stored_key = "gate_reads",
     .description = "Whether agents' hooks ask about reads, too",
     .field = of<&Policy::gate_reads>(), .is_local = true},
    {.name = "gate_stale_read", .kind = kFlag, .stored_key = "gate_stale_read",
     .description =
         "Whether an agent has to read a file again that another owner changed since, before it writes it",
     .field = kOnElsewhere, .is_local = true},
    {.name = "gate_fail_open", .kind = kFlag, .stored_key = "gate_fail_open",
     .description =
         "Whether a write goes through that could not be checked, because the store cannot be reached",
     .field = of<&Policy::gate_fail_open>(), .is_local = true},
    {.name = "git_hook_required", .kind = kFlag, .stored_key = "git_hook_required",
     .description = "Whether git's hooks refuse a commit where lease is not installed",
     .field = of<&Policy::git_hook_required>(), .is_local = true},
};
// clang-format on

Result<std::int64_t> checked(const SettingSpec& spec, std::int64_t value, std::string_view text) {
  if (value >= spec.least) return value;
  return fail(Code::invalid_argument, fmt::format("{} is {}; the least it may be is {}", spec.name,
                                                  in_quotes(text), setting_text(spec, spec.least)));
}

std::unexpected<Error> not_a(const SettingSpec& spec, std::string_view text, std::string_view what) {
  return fail(Code::invalid_argument,
              fmt::format("{} is {}; it has to be {}", spec.name, in_quotes(text), what));
}

Result<std::int64_t> parse_flag(const SettingSpec& spec, std::string_view text) {
  if (text == "true" || text == "1") return 1;
  if (text == "false" || text == "0") return 0;
  return not_a(spec, text, "true or false");
}

// No number of things here is larger; and no sum of such numbers overflows.
constexpr std::int64_t kMost = 1'000'000'000;

Result<std::int64_t> parse_whole(const SettingSpec& spec, std::string_view text) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number > kMost) return not_a(spec, text, fmt::format("a whole number up to {}", kMost));
  return std::max(*number, -kMost);
}

Result<std::int64_t> parse_count(const SettingSpec& spec, std::string_view text) {
  const auto number = parse_whole(spec, text);
  if (!number) return number;
  return checked(spec, *number, text);
}

}  // namespace

std::span<const SettingSpec> setting_specs() { return kSpecs; }

const SettingSpec* find_setting(std::string_view name) {
  const auto* found = std::ranges::find_if(
      kSpecs, [&](const SettingSpec& spec) { return spec.name == name || spec.stored_key == name; });
  return found == std::end(kSpecs) ? nullptr : found;
}

Result<std::int64_t> parse_setting(const SettingSpec& spec, std::string_view text) {
  if (spec.kind == SettingKind::flag) return parse_flag(spec, text);
  if (spec.kind == SettingKind::number) return parse_count(spec, text);
  const auto duration = parse_duration(text);
  if (!duration) return not_a(spec, text, "a time with its unit, such as 90s, 5m, 1h30m or 30d");
  return checked(spec, duration->count(), text);
}

Result<std::int64_t> parse_setting(const SettingSpec& spec, std::string_view text, Duration unit) {
  if (spec.kind != SettingKind::duration) return parse_setting(spec, text);
  const auto number = parse_whole(spec, text);
  if (!number) return number;
  const auto longest = kLongestDuration.count();
  return checked(spec, std::clamp(*number * unit.count(), -longest, longest), text);
}

std::string setting_text(const SettingSpec& spec, std::int64_t value) {
  if (spec.kind == SettingKind::flag) return value != 0 ? "true" : "false";
  if (spec.kind == SettingKind::number) return std::to_string(value);
  return duration_text(Duration(value));
}

std::string stored_text(const SettingSpec& spec, std::int64_t value) {
  if (spec.kind != SettingKind::duration) return setting_text(spec, value);
  return std::to_string(value / spec.stored_unit.count());
}

std::string environment_name(const SettingSpec& spec) {
  std::string name = "LEASE_";
  for (const char c : spec.name) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace leasehold
