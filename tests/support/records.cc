#include "support/records.h"

#include <cstdio>
#include <limits>

#include "support/manual_clock.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr Time kNow = ManualClock::kStart;
constexpr WallTime kWall = ManualClock::kWallStart;
constexpr Duration kCentury = std::chrono::hours(100 * 365 * 24);
constexpr std::uint64_t kMaxToken = (std::uint64_t{1} << 53) - 1;

// Agent ids are printable.
const std::string kAwkwardAgent = R"(it's "a":b/c\d %_*?[x]{y}|z)";

std::string uuid(unsigned kind, int number) {
  char text[37];
  std::snprintf(text, sizeof text, "%08x-0000-4000-8000-%012x", kind, static_cast<unsigned>(number));
  return text;
}

std::string long_path() {
  std::string path;
  while (path.size() < 4000) path += "/directory";
  return path + '/' + std::string(4095 - path.size(), 'x');
}

Holder filled_holder() {
  return {.owner = {"agent", "session"},
          .pr_id = "pr-1",
          .host = "host-1",
          .process = Process{.machine_id = "machine-1",
                             .boot_id = "boot-1",
                             .pid_namespace = 4026531836,
                             .pid = 4711,
                             .start_time = 815}};
}

Holder extreme_holder() {
  return {.owner = {kAwkwardAgent + std::string(128 - kAwkwardAgent.size(), 'a'), std::string(128, 's')},
          .pr_id = awkward_text(),
          .host = awkward_text(),
          .process = Process{.machine_id = awkward_text(),
                             .boot_id = "",
                             .pid_namespace = std::numeric_limits<std::uint64_t>::max(),
                             .pid = std::numeric_limits<std::int64_t>::min(),
                             .start_time = std::numeric_limits<std::uint64_t>::max()}};
}

}  // namespace

LeaseId lease_id(int number) { return {uuid(0x1ea5e, number)}; }
GroupId group_id(int number) { return {uuid(0x960a9, number)}; }
std::string notice_id(int number) { return uuid(0x9071ce, number); }

Owner ann() { return {"ann", "session-a"}; }
Owner bob() { return {"bob", "session-b"}; }

Lease make_lease(int number, const std::string& path, const Owner& owner) {
  Lease lease;
  lease.id = lease_id(number);
  lease.workspace = kWorkspace;
  lease.path = path;
  lease.holder.owner = owner;
  lease.token = {static_cast<std::uint64_t>(kWall.time_since_epoch().count() + number)};
  lease.created_at = kNow;
  lease.acquired_at = kNow;
  lease.expires_at = kNow + 5min;
  lease.last_heartbeat_at = kNow;
  lease.updated_at = kNow;
  lease.ttl = 5min;
  lease.group_id = group_id(number);
  return lease;
}

Ticket make_ticket(int number, const std::vector<std::string>& paths, const Owner& owner) {
  Ticket ticket;
  ticket.id = group_id(number);
  ticket.workspace = kWorkspace;
  AcquireRequest request;
  request.caller.holder.owner = owner;
  for (const std::string& path : paths) {
    WantedPath wanted;
    wanted.path = path;
    request.paths.push_back(wanted);
  }
  request.ttl = 5min;
  request.max_renewals = -1;
  request.wait = 1min;
  ticket.request = std::move(request);
  ticket.sequence = {static_cast<std::uint64_t>(kWall.time_since_epoch().count() + number)};
  ticket.arrival = kNow;
  ticket.order = kNow;
  ticket.wait_until = kNow + 1min;
  ticket.proven_until = kNow + 10s;
  return ticket;
}

Answer make_answer(const std::string& key, const std::vector<Lease>& leases) {
  Answer answer;
  answer.owner = leases.empty() ? ann() : leases.front().holder.owner;
  answer.key = key;
  answer.request_hash = "42";
  for (const Lease& lease : leases) {
    answer.group_id = lease.group_id;
    answer.leases.push_back(lease.id);
  }
  answer.drop_at = kNow + 1h;
  return answer;
}

Notice make_notice(int number, const Lease& lease) {
  Notice notice;
  notice.id = notice_id(number);
  notice.owner = lease.holder.owner;
  notice.cause = EndCause::forced;
  notice.lease_id = lease.id;
  notice.path = lease.path;
  notice.subtree = lease.subtree;
  notice.token = lease.token;
  notice.actor = "operator";
  notice.reason = "the release is due";
  notice.at = kNow;
  notice.wall = kWall;
  notice.drop_at = kNow + 1h;
  return notice;
}

Event make_event(const Lease& lease) {
  Event event;
  switch (lease.status) {
    case Status::pending:
      event.type = EventType::queued;
      break;
    case Status::active:
      event.type = EventType::acquired;
      break;
    case Status::released:
      event.type = EventType::released;
      event.status_before = Status::active;
      break;
    case Status::expired:
      event.type = EventType::expired;
      event.status_before = Status::active;
      break;
    case Status::failed:
      event.type = EventType::failed;
      event.status_before = Status::pending;
      break;
  }
  event.lease_id = lease.id;
  event.group_id = lease.group_id;
  event.owner = lease.holder.owner;
  event.pr_id = lease.holder.pr_id;
  event.path = lease.path;
  event.subtree = lease.subtree;
  event.mode = lease.mode;
  event.token = lease.token;
  event.status_after = lease.status;
  event.cause = lease.ended_by;
  event.renewal_count = lease.renewal_count;
  event.at = lease.updated_at;
  event.wall = wall_time(lease.updated_at, kNow, kWall);
  return event;
}

Lease filled_lease() {
  return {.id = lease_id(101),
          .workspace = kWorkspace,
          .path = "/filled/lease",
          .subtree = true,
          .mode = Mode::shared,
          .holder = filled_holder(),
          .token = {102},
          .status = Status::released,
          .ended_by = EndCause::forced,
          .created_at = kNow + 1ns,
          .acquired_at = kNow + 2ns,
          .expires_at = kNow + 3ns,
          .last_heartbeat_at = kNow + 4ns,
          .updated_at = kNow + 5ns,
          .ttl = 6ms,
          .renewal_count = 7,
          .max_renewals = 8,
          .group_id = group_id(103),
          .room = "room",
          .reason = "reason",
          .trace = "trace",
          .requested = false,
          .paired_with = {"/source/1", "/source/2"},
          .pairs = {"/test/1", "/test/2"},
          .rule = "rule 1",
          .attended = true,
          .idle_at = kNow + 9ns,
          .recalled_at = kNow + 10ns};
}

Ticket filled_ticket() {
  const WantedPath first{
      .path = "/filled/1", .subtree = true, .requested = true, .paired_with = {}, .rule = "rule 1"};
  const WantedPath second{.path = "/filled/2",
                          .subtree = false,
                          .requested = false,
                          .paired_with = {"/source/1", "/source/2"},
                          .rule = "rule 2"};
  return {.id = group_id(201),
          .workspace = kWorkspace,
          .request = AcquireRequest{.caller = {.holder = filled_holder(), .whole_session = true},
                                    .paths = {first, second},
                                    .mode = Mode::shared,
                                    .ttl = 1ms,
                                    .max_renewals = 2,
                                    .wait = 3ms,
                                    .priority = 4,
                                    .attended = true,
                                    .reason = "reason",
                                    .room = "room",
                                    .trace = "trace",
                                    .idempotency_key = "key"},
          .sequence = {202},
          .arrival = kNow + 5ns,
          .order = kNow + 6ns,
          .upgrade = true,
          .wait_until = kNow + 7ns,
          .proven_until = kNow + 8ns,
          .status = Status::failed,
          .ended_by = EndCause::timed_out,
          .ended_at = kNow + 9ns,
          .leases = {lease_id(203), lease_id(204)},
          .token = {205}};
}

Answer filled_answer() {
  return {.owner = {"agent", "session"},
          .key = "key",
          .request_hash = "hash",
          .group_id = group_id(302),
          .leases = {lease_id(303), lease_id(304)},
          .ttl_clamped = true,
          .drop_at = kNow + 1ns};
}

Notice filled_notice() {
  return {.id = notice_id(401),
          .owner = {"agent", "session"},
          .cause = EndCause::recalled,
          .received = true,
          .lease_id = lease_id(402),
          .path = "/filled/notice",
          .subtree = true,
          .token = {403},
          .actor = "actor",
          .reason = "reason",
          .at = kNow + 1ns,
          .wall = kWall + 2us,
          .drop_at = kNow + 3ns};
}

Contention make_contention(const Owner& owner, const std::string& path, const Lease& lease) {
  Contention contention = {.id = "contention of " + owner.agent_id + " at " + path, .path = path};
  contention.wanted.caller.holder.owner = owner;
  contention.wanted.paths = {{.path = path}};
  contention.first_denied_at = kNow;
  contention.retry_at = kNow + 180s;
  contention.drop_at = kNow + 1h;
  contention.in_the_way = {.path = path, .holder = lease.holder, .held_path = lease.path, .mode = lease.mode};
  return contention;
}

Contention filled_contention() {
  const Ticket ticket = filled_ticket();
  Contention contention = {.id = "id", .path = "/filled/contention"};
  contention.wanted = ticket.request;
  contention.state = ContentionState::halted;
  contention.may_retry = true;
  contention.instructed_by = "olga";
  contention.instruction_reason = "because";
  contention.first_denied_at = kNow + 1ns;
  contention.retry_at = kNow + 2ns;
  contention.retried_at = kNow + 3ns;
  contention.drop_at = kNow + 4ns;
  contention.in_the_way = {.path = "/wanted",
                           .waits = true,
                           .holder = filled_lease().holder,
                           .held_path = "/held",
                           .subtree = true,
                           .mode = Mode::exclusive,
                           .lease_id = lease_id(601),
                           .reason = "reason",
                           .acquired_at = kNow + 5ns,
                           .last_heartbeat_at = kNow + 6ns,
                           .expires_at = kForever,
                           .verdict = {Liveness::dead, "evidence"},
                           .waiters_ahead = 7};
  return contention;
}

Event filled_event() {
  return {.sequence = 0,  // The store's to give.
          .type = EventType::downgraded,
          .lease_id = lease_id(501),
          .group_id = group_id(502),
          .owner = {"agent", "session"},
          .pr_id = "pr-1",
          .path = "/filled/event",
          .subtree = true,
          .mode = Mode::exclusive,
          .token = {503},
          .status_before = Status::pending,
          .status_after = Status::active,
          .cause = EndCause::merged,
          .renewal_count = 1,
          .count = 2,
          .at = kNow + 3ns,
          .wall = kWall + 4us,
          .actor = "actor",
          .reason = "reason",
          .trace = "trace"};
}

Lease extreme_lease() {
  return {.id = lease_id(0x7fffffff),
          .workspace = kWorkspace,
          .path = long_path(),
          .subtree = false,
          .mode = Mode::exclusive,
          .holder = extreme_holder(),
          .token = {kMaxToken},
          .status = Status::expired,
          .ended_by = EndCause::owner_dead,
          .created_at = Time{-1h},
          .acquired_at = Time{},
          .expires_at = kForever,
          .last_heartbeat_at = Time{-1ns},
          .updated_at = kForever,
          .ttl = kCentury,
          .renewal_count = std::numeric_limits<int>::max(),
          .max_renewals = 0,
          .group_id = {},
          .room = "",
          .reason = awkward_text(),
          .trace = std::string(10'000, 't'),
          .requested = true,
          .paired_with = {"", long_path(), '/' + awkward_text()},
          .pairs = {long_path(), "", '/' + awkward_text()},
          .rule = awkward_text(),
          .attended = false,
          .idle_at = kForever,
          .recalled_at = Time{}};
}

Ticket extreme_ticket() {
  const WantedPath longest{
      .path = long_path(), .subtree = false, .requested = true, .paired_with = {""}, .rule = awkward_text()};
  const WantedPath root{.path = "/", .subtree = true, .requested = false, .paired_with = {}, .rule = ""};
  return {.id = group_id(0x7fffffff),
          .workspace = kWorkspace,
          .request = AcquireRequest{.caller = {.holder = extreme_holder(), .whole_session = false},
                                    .paths = {longest, root},
                                    .mode = Mode::exclusive,
                                    .ttl = kCentury,
                                    .max_renewals = 0,
                                    .wait = 0ms,
                                    .priority = -10,
                                    .attended = false,
                                    .reason = awkward_text(),
                                    .room = awkward_text(),
                                    .trace = awkward_text(),
                                    .idempotency_key = awkward_text()},
          .sequence = {kMaxToken},
          .arrival = Time{},
          .order = Time{-100s},
          .upgrade = false,
          .wait_until = kForever,
          .proven_until = kForever,
          .status = Status::active,
          .ended_by = EndCause::none,
          .ended_at = Time{-1h},
          .leases = {},
          .token = {kMaxToken}};
}

Answer extreme_answer() {
  return {.owner = {kAwkwardAgent, ""},
          .key = awkward_text(),
          .request_hash = awkward_text(),
          .group_id = {},
          .leases = {},
          .ttl_clamped = false,
          .drop_at = kForever};
}

Notice extreme_notice() {
  return {.id = notice_id(0x7fffffff),
          .owner = {kAwkwardAgent, ""},
          .cause = EndCause::none,
          .received = false,
          .lease_id = {},
          .path = long_path(),
          .token = {kMaxToken},
          .actor = "",
          .reason = awkward_text(),
          .at = Time{-1h},
          .wall = WallTime{-1us},
          .drop_at = kForever};
}

Event extreme_event() {
  return {.sequence = 0,
          .type = EventType::queued,
          .lease_id = {},
          .group_id = {},
          .owner = {kAwkwardAgent, ""},
          .pr_id = awkward_text(),
          .path = "",
          .subtree = false,
          .mode = Mode::shared,
          .token = {kMaxToken},
          .status_before = std::nullopt,
          .status_after = std::nullopt,
          .cause = EndCause::none,
          .renewal_count = std::numeric_limits<int>::max(),
          .count = std::numeric_limits<std::uint32_t>::max(),
          .at = kForever,
          .wall = WallTime{},
          .actor = "",
          .reason = awkward_text(),
          .trace = std::string(10'000, 't')};
}

std::string awkward_text() {
  return "it's \"quoted\" 100% a_b *?[x]{y} \\back\\ :colon: /slash/ \t\r\n\x01\x7f "
         "\u00e9 e\u0301 \u65e5\u672c \U0001f512 \u2028 $(x) `y` -- ; ";
}

}  // namespace leasehold
