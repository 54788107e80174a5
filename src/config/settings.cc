#include "config/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "util/duration_text.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Reads and writes one member of a policy, as a number.
template <auto member>
void apply(Policy& policy, std::int64_t value) {
  using Field = std::remove_reference_t<decltype(policy.*member)>;
  policy.*member = Field(static_cast<Field>(value));
}
template <auto member>
std::int64_t current(const Policy& policy) {
  using Field = std::remove_cvref_t<decltype(policy.*member)>;
  if constexpr (std::is_same_v<Field, Duration>) {
    return (policy.*member).count();
  } else {
    return static_cast<std::int64_t>(policy.*member);
  }
}

// The longest wait is none of these where nothing limits it: then it is 0.
void apply_wait_max(Policy& policy, std::int64_t value) {
  policy.wait_max = value == 0 ? std::nullopt : std::optional(Duration(value));
}
std::int64_t current_wait_max(const Policy& policy) {
  return policy.wait_max.value_or(Duration::zero()).count();
}

// Not positive: for good.
void apply_session_life(Policy& policy, std::int64_t value) {
  policy.session_life = value <= 0 ? std::nullopt : std::optional(Duration(value));
}
std::int64_t current_session_life(const Policy& policy) {
  return policy.session_life.value_or(Duration::zero()).count();
}

// The engine does not go by these: what they say is asked by name (Configuration::is_on).
void apply_nowhere(Policy&, std::int64_t) {}
std::int64_t on(const Policy&) { return 1; }

constexpr auto kNumber = SettingKind::number;
constexpr auto kFlag = SettingKind::flag;
constexpr auto kDuration = SettingKind::duration;

// The stored keys up to history_retention_days are seed 003's; never renamed.
constexpr SettingSpec kSpecs[] = {
    {"ttl", kDuration, "default_ttl_seconds", 1s, "LOCK_TTL_MS", 1ms, "TTL of a new lease",
     apply<&Policy::ttl>, current<&Policy::ttl>, 1},
    {"max_renewals",
     kNumber,
     "max_renewals",
     {},
     "",
     {},
     "How often a lease may be renewed; -1: no limit",
     apply<&Policy::max_renewals>,
     current<&Policy::max_renewals>,
     -1},
    {"wait_max",
     kDuration,
     "acquisition_timeout_ms",
     1ms,
     "",
     {},
     "How long an acquire waits at most, and if it does not say; 0s: as long as it says",
     apply_wait_max,
     current_wait_max},
    {"cleanup_interval",
     kDuration,
     "cleanup_interval_seconds",
     1s,
     "",
     {},
     "Time between two cleanups",
     apply<&Policy::cleanup_interval>,
     current<&Policy::cleanup_interval>,
     1},
    {"auto_expire",
     kFlag,
     "auto_expire_enabled",
     {},
     "",
     {},
     "Whether what ended is recorded by the way; it is in nobody's way in any case",
     apply<&Policy::auto_expire>,
     current<&Policy::auto_expire>},
    {"waiting",
     kFlag,
     "blocking_mode_enabled",
     {},
     "",
     {},
     "Whether an acquire may wait",
     apply<&Policy::waiting_allowed>,
     current<&Policy::waiting_allowed>},
    {"keep_history",
     kFlag,
     "keep_history",
     {},
     "",
     {},
     "Whether history is kept",
     apply<&Policy::keep_history>,
     current<&Policy::keep_history>},
    {"history_life",
     kDuration,
     "history_retention_days",
     24h,
     "",
     {},
     "How long history is kept",
     apply<&Policy::history_life>,
     current<&Policy::history_life>,
     1},
    {"ttl_max",
     kDuration,
     "max_ttl_seconds",
     1s,
     "",
     {},
     "Longest TTL there is; more is cut to it",
     apply<&Policy::ttl_max>,
     current<&Policy::ttl_max>,
     1},
    {"rate_limit",
     kNumber,
     "rate_limit_calls",
     {},
     "LOCK_RATE_LIMIT_PER_MIN",
     {},
     "Acquire calls of a session in one window; 0: no limit",
     apply<&Policy::rate_limit>,
     current<&Policy::rate_limit>},
    {"rate_window", kDuration, "rate_limit_window_ms", 1ms, "LOCK_RATE_LIMIT_WINDOW_MS", 1ms,
     "The window of the rate limit", apply<&Policy::rate_window>, current<&Policy::rate_window>, 1},
    {"session_history_life", kDuration, "session_history_ttl_seconds", 1s, "LOCK_HISTORY_TTL_SEC", 1s,
     "How long it is remembered what a session had (profile session); 0s: until it is given back",
     apply_session_life, current_session_life, INT64_MIN},
    {"silence_max",
     kDuration,
     "silence_max_seconds",
     1s,
     "",
     {},
     "How long an agent that is seen alive may be silent",
     apply<&Policy::silence_max>,
     current<&Policy::silence_max>,
     1},
    {"idle_grace",
     kDuration,
     "idle_grace_seconds",
     1s,
     "",
     {},
     "From the end of a turn to the end of its leases",
     apply<&Policy::idle_grace>,
     current<&Policy::idle_grace>},
    {"gate_retry",
     kDuration,
     "gate_retry_seconds",
     1s,
     "",
     {},
     "From a denial at the gate to its one retry",
     apply<&Policy::gate_retry>,
     current<&Policy::gate_retry>,
     1},
    {"gate_reads",
     kFlag,
     "gate_reads",
     {},
     "",
     {},
     "Whether agents' hooks ask about reads, too",
     apply<&Policy::gate_reads>,
     current<&Policy::gate_reads>,
     0,
     true},
    {"gate_stale_read",
     kFlag,
     "gate_stale_read",
     {},
     "",
     {},
     "Whether an agent has to read a file again that another owner changed since, before it writes it",
     apply_nowhere,
     on,
     0,
     true},
    {"gate_fail_open",
     kFlag,
     "gate_fail_open",
     {},
     "",
     {},
     "Whether a write goes through that could not be checked, because the store cannot be reached",
     apply<&Policy::gate_fail_open>,
     current<&Policy::gate_fail_open>,
     0,
     true},
    {"git_hook_required",
     kFlag,
     "git_hook_required",
     {},
     "",
     {},
     "Whether git's hooks refuse a commit where lease is not installed",
     apply<&Policy::git_hook_required>,
     current<&Policy::git_hook_required>,
     0,
     true},
};

Result<std::int64_t> checked(const SettingSpec& spec, std::int64_t value, std::string_view text) {
  if (value >= spec.least) return value;
  return fail(Code::invalid_argument, fmt::format("{} is {}; the least it may be is {}", spec.name,
                                                  in_quotes(text), setting_text(spec, spec.least)));
}

std::unexpected<Error> not_a(const SettingSpec& spec, std::string_view text, std::string_view what) {
  return fail(Code::invalid_argument,
              fmt::format("{} is {}; it has to be {}", spec.name, in_quotes(text), what));
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<std::int64_t> parse_flag(const SettingSpec& spec, std::string_view text) {
  if (text == "true" || text == "1") return 1;
  if (text == "false" || text == "0") return 0;
  return not_a(spec, text, "true or false");
}

// No number of things here is larger; and no sum of such numbers overflows.
constexpr std::int64_t kMost = 1'000'000'000;

Result<std::int64_t> parse_count(const SettingSpec& spec, std::string_view text) {
  const auto number = parse_number(text);
  if (!number || *number > kMost) return not_a(spec, text, "a whole number");
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
  const auto number = parse_number(text);
  if (!number || *number > kMost || *number < -kMost) return not_a(spec, text, "a whole number");
  return checked(spec, *number * unit.count(), text);
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
