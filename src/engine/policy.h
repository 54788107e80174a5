#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "model/key.h"

namespace leasehold {

// The numbers the rules go by. Configuration sets them; these are the built-in ones.
struct Policy {
  Duration ttl = std::chrono::minutes(5);
  Duration ttl_max = std::chrono::hours(1);
  int max_renewals = -1;
  bool waiting_allowed = true;
  std::optional<Duration> wait_max;  // Longest wait a request may ask for.

  Duration silence_max = std::chrono::minutes(30);  // An attended lease survives so much silence.
  Duration idle_grace = std::chrono::seconds(30);   // From the end of a turn to the end of its leases.
  Duration waiter_silence = std::chrono::seconds(15);
  Duration priority_step = std::chrono::seconds(10);
  Duration notice_life = std::chrono::hours(1);
  Duration answer_life = std::chrono::hours(1);  // After the end of the grant it answers for.

  bool auto_expire = true;  // Acquires and the daemon sweep by the way. Off: only who asks for it does.
  Duration cleanup_interval = std::chrono::minutes(5);
  bool keep_history = true;
  Duration history_life = std::chrono::days(30);
  std::size_t rate_limit = 0;  // Acquire calls of a session in one window; 0: as many as it likes.
  Duration rate_window = std::chrono::minutes(1);

  bool session_locks = false;            // Everybody is in a session, and what sessions have is remembered.
  std::optional<Duration> session_life;  // How long it is, after the last acquire; nothing: until given back.
  int attempts = 1;                      // Of one acquire that finds somebody in its way, or no store.
  Duration attempt_pause = std::chrono::milliseconds(100);

  Duration gate_retry = std::chrono::seconds(180);     // From a denial at the gate to its one retry.
  Duration contention_life = std::chrono::hours(1);    // After the retry was due, if nobody came for it.
  Duration instruction_life = std::chrono::hours(24);  // A halted worker is remembered so long.
  bool gate_reads = false;                             // Whether hooks ask about reads, too.
  bool gate_fail_open = false;                         // Whether a write that cannot be checked goes through.
  bool git_hook_required = false;                      // Whether a commit needs lease to be installed.

  std::size_t paths_max = kNamesMax;
  std::size_t leases_per_owner_max = 200'000;
  std::size_t waiters_per_path_max = 1'000;
};

inline constexpr int kPriorityMax = 10;

// A named set of defaults.
struct Profile {
  std::string_view name;
  Policy policy;
};

// agent (the default), session or job. Error: invalid_argument, listing the names there are.
Result<Profile> profile_named(std::string_view name);

}  // namespace leasehold
