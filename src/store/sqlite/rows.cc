#include "store/sqlite/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "store/deadline.h"
#include "store/json/records_json.h"
#include "util/number.h"

namespace leasehold::sqlite {
namespace {

std::string string(Query& row) { return std::string(row.text()); }
Time time(Query& row) { return Time(Time::duration(row.integer())); }
WallTime wall(Query& row) { return WallTime(WallTime::duration(row.integer())); }
bool flag(Query& row) { return row.integer() != 0; }

std::optional<Time> maybe_time(Query& row) {
  const auto value = row.maybe_integer();
  return value ? std::optional(Time(Time::duration(*value))) : std::nullopt;
}

template <class Enum>
Enum known(std::string_view text) {
  const auto value = from_word<Enum>(text);
  if (!value) throw_corrupt(fmt::format("the word '{}'", text.substr(0, 64)));
  return *value;
}

template <class Enum>
Enum word_column(Query& row) {
  return known<Enum>(row.text());
}

template <class Enum>
std::optional<Enum> maybe_word(Query& row) {
  const std::string_view text = row.text();
  return text.empty() ? std::nullopt : std::optional(known<Enum>(text));
}

Token token(Query& row) {
  const std::int64_t value = row.integer();
  if (value < 0) throw_corrupt("a token below zero");
  return {static_cast<std::uint64_t>(value)};
}

Owner owner(Query& row) {
  std::string agent = string(row);
  return {std::move(agent), string(row)};
}

std::vector<std::string> texts(Query& row) {
  const std::string_view text = row.text();
  if (text.empty()) return {};
  auto list = texts_from_json(text);
  if (!list) throw_corrupt(fmt::format("the list '{}'", text.substr(0, 64)));
  return std::move(*list);
}

std::vector<LeaseId> lease_ids(Query& row) {
  std::vector<LeaseId> ids;
  for (std::string& id : texts(row)) ids.push_back({std::move(id)});
  return ids;
}

std::optional<Process> process(Query& row) {
  Process process;
  process.machine_id = string(row);
  process.boot_id = string(row);
  process.pid_namespace = static_cast<std::uint64_t>(row.integer());
  const auto pid = row.maybe_integer();
  process.start_time = static_cast<std::uint64_t>(row.integer());
  if (!pid) return std::nullopt;
  process.pid = *pid;
  return process;
}

AcquireRequest parse_request(std::string_view text) {
  auto parsed = request_from_json(text);
  if (!parsed) throw_corrupt(fmt::format("the request '{}'", text.substr(0, 64)));
  return *std::move(parsed);
}

// Whoever gives back, or comes, reads all who wait in line, and again the next time.
constexpr std::size_t kRequestsMax = 1'024;
constexpr std::size_t kRequestBytesMax = 4'096;
thread_local std::unordered_map<std::string, CopyOnWrite<AcquireRequest>> known_requests;

CopyOnWrite<AcquireRequest> request(std::string_view text) {
  const std::string key(text);
  if (const auto found = known_requests.find(key); found != known_requests.end()) return found->second;
  CopyOnWrite<AcquireRequest> parsed = parse_request(text);
  note_request(key, parsed);
  return parsed;
}

std::uint64_t sequence_from(std::string_view text) {
  const auto value = parse_number<std::uint64_t>(text);
  if (!value) throw_corrupt(fmt::format("the sequence '{}'", text.substr(0, 64)));
  return *value;
}

}  // namespace

Lease read_lease(Query& row, const std::string& workspace) {
  Lease lease;
  lease.id = {string(row)};
  lease.workspace = workspace;
  lease.path = string(row);
  lease.subtree = flag(row);
  lease.mode = word_column<Mode>(row);
  lease.holder.owner = owner(row);
  lease.holder.pr_id = string(row);
  lease.holder.host = string(row);
  lease.holder.process = process(row);
  lease.token = token(row);
  lease.status = word_column<Status>(row);
  lease.ended_by = word_column<EndCause>(row);
  lease.created_at = time(row);
  lease.acquired_at = time(row);
  lease.expires_at = time(row);
  lease.last_heartbeat_at = time(row);
  lease.updated_at = time(row);
  lease.idle_at = maybe_time(row);
  lease.recalled_at = maybe_time(row);
  lease.ttl = Duration(row.integer());
  lease.renewal_count = static_cast<int>(row.integer());
  lease.max_renewals = static_cast<int>(row.integer());
  lease.group_id = {string(row)};
  lease.room = string(row);
  lease.reason = string(row);
  lease.trace = string(row);
  lease.requested = flag(row);
  lease.paired_with = texts(row);
  lease.pairs = texts(row);
  lease.rule = string(row);
  lease.attended = flag(row);
  return lease;
}

void note_request(const std::string& text, const CopyOnWrite<AcquireRequest>& request) {
  if (text.size() > kRequestBytesMax) return;
  if (known_requests.size() == kRequestsMax) known_requests.clear();
  known_requests.emplace(text, request);
}

Ticket read_ticket(Query& row, const std::string& workspace) {
  Ticket ticket;
  ticket.id = {string(row)};
  ticket.workspace = workspace;
  ticket.request = request(row.text());
  ticket.sequence = token(row);
  ticket.arrival = time(row);
  ticket.order = time(row);
  ticket.upgrade = flag(row);
  ticket.wait_until = time(row);
  ticket.proven_until = time(row);
  ticket.status = word_column<Status>(row);
  ticket.ended_by = word_column<EndCause>(row);
  ticket.ended_at = time(row);
  ticket.leases = lease_ids(row);
  ticket.token = token(row);
  return ticket;
}

InLine read_in_line(Query& row) {
  InLine waiter;
  waiter.ticket = {string(row)};
  waiter.owner = owner(row);
  waiter.whole_session = flag(row);
  waiter.upgrade = flag(row);
  waiter.order = time(row);
  waiter.sequence = token(row);
  return waiter;
}

Event read_event(Query& row) {
  Event event;
  event.sequence = sequence_from(row.text());
  event.type = word_column<EventType>(row);
  event.lease_id = {string(row)};
  event.group_id = {string(row)};
  event.owner = owner(row);
  event.pr_id = string(row);
  event.path = string(row);
  event.subtree = flag(row);
  event.mode = word_column<Mode>(row);
  event.token = token(row);
  event.status_before = maybe_word<Status>(row);
  event.status_after = maybe_word<Status>(row);
  event.cause = word_column<EndCause>(row);
  event.renewal_count = static_cast<int>(row.integer());
  event.count = static_cast<std::size_t>(row.integer());
  event.at = time(row);
  event.wall = wall(row);
  event.actor = string(row);
  event.reason = string(row);
  event.trace = string(row);
  return event;
}

Notice read_notice(Query& row) {
  Notice notice;
  notice.id = string(row);
  notice.owner = owner(row);
  notice.cause = word_column<EndCause>(row);
  notice.received = flag(row);
  notice.lease_id = {string(row)};
  notice.path = string(row);
  notice.subtree = flag(row);
  notice.token = token(row);
  notice.actor = string(row);
  notice.reason = string(row);
  notice.at = time(row);
  notice.wall = wall(row);
  notice.drop_at = time(row);
  return notice;
}

Setting read_setting(Query& row) {
  const std::string stored_key(row.text());
  Setting setting;
  setting.value = row.text();
  setting.type = row.text();
  setting.description = row.text();
  setting.scope = row.text();
  setting.resource = row.text();
  setting.requires_restart = row.integer() != 0;
  setting.updated_at = WallTime(std::chrono::seconds(row.integer()));
  if (setting.scope.empty()) setting.scope = "global";
  // Others may have written this table by hand; the key says what it says, whatever its scope column does.
  setting.key = stored_key.substr(0, stored_key.find('@'));
  if (setting.stored_key() != stored_key) {
    setting.key = stored_key;
    setting.scope = "global";
    setting.resource.clear();
  }
  return setting;
}

Answer read_answer(Query& row) {
  Answer answer;
  answer.owner = owner(row);
  answer.key = string(row);
  answer.request_hash = string(row);
  answer.group_id = {string(row)};
  answer.leases = lease_ids(row);
  answer.ttl_clamped = flag(row);
  answer.drop_at = time(row);
  return answer;
}

Contention read_contention(Query& row) {
  const std::string_view text = row.text();
  auto contention = contention_from_json(text);
  if (!contention) throw_corrupt(fmt::format("the contention '{}'", text.substr(0, 64)));
  return std::move(*contention);
}

Time when(const Lease& lease) {
  if (lease.status != Status::active) return lease.updated_at;
  return earliest_deadline(lease);
}

Time when(const Ticket& ticket) {
  if (ticket.status != Status::pending) return ticket.ended_at;
  return earliest_deadline(ticket);
}

std::optional<std::int64_t> to_column(std::optional<Time> time) {
  return time ? std::optional(to_column(*time)) : std::nullopt;
}

std::string to_column(const std::vector<std::string>& list) { return list.empty() ? "" : to_json(list); }

std::string to_column(const std::vector<LeaseId>& ids) {
  std::vector<std::string> list;
  for (const LeaseId& id : ids) list.push_back(id.text);
  return to_column(list);
}

std::string sequence_text(std::uint64_t sequence) { return fmt::format("{:016}", sequence); }

}  // namespace leasehold::sqlite
