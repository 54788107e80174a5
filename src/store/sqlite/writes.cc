// What a transaction of the SQLite store writes.
#include <fmt/format.h>

#include <algorithm>

#include "store/json/records_json.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/transaction.h"
#include "store/stored.h"
#include "store/token.h"

namespace leasehold::sqlite {
namespace {

std::int64_t seconds_of(Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

// The three statements that write a lease share one numbering of its columns.
#define LEASE_IDENTITY                                                                         \
  "workspace = ?2, file_path = ?3, subtree = ?4, agent_id = ?5, session_id = ?6, pr_id = ?7, " \
  "created_at = ?8, created_ns = ?9, "
#define LEASE_STATE                                                                                          \
  "mode = ?10, host = ?11, machine_id = ?12, boot_id = ?13, pid_namespace = ?14, pid = ?15, start_time = "   \
  "?16, "                                                                                                    \
  "token = ?17, status = ?18, ended_by = ?19, updated_at = ?20, expires_at = ?21, ttl_seconds = ?22, "       \
  "acquired_ns = ?23, expires_ns = ?24, heartbeat_ns = ?25, updated_ns = ?26, idle_ns = ?27, "               \
  "recalled_ns = ?28, deadline_ns = ?29, ttl_ms = ?30, renewal_count = ?31, max_renewals = ?32, "            \
  "group_id = ?33, room = ?34, reason = ?35, trace = ?36, requested = ?37, paired_with = ?38, pairs = ?39, " \
  "rule = ?40, attended = ?41, durable = max(durable, ?42)"

constexpr const char* kInsertLease =
    "INSERT INTO leases (id, workspace, file_path, subtree, agent_id, session_id, pr_id, created_at, "
    "created_ns,"
    " mode, host, machine_id, boot_id, pid_namespace, pid, start_time, token, status, ended_by, updated_at,"
    " expires_at, ttl_seconds, acquired_ns, expires_ns, heartbeat_ns, updated_ns, idle_ns, recalled_ns, "
    "deadline_ns,"
    " ttl_ms, renewal_count, max_renewals, group_id, room, reason, trace, requested, paired_with, pairs, "
    "rule,"
    " attended, durable) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
    "?18, "
    "?19, ?20,"
    " ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, "
    "?41, ?42) ON CONFLICT(id) DO NOTHING";
constexpr const char* kUpdateLease = "UPDATE leases SET " LEASE_IDENTITY LEASE_STATE " WHERE id = ?1";
// An update rewrites every index on a column it names, changed or not; what a lease is about seldom does
// change. Renewals and endings name less still: LeaseChanges.
constexpr const char* kUpdateState = "UPDATE leases SET " LEASE_STATE " WHERE id = ?1";

void bind_process(Query& query, const std::optional<Process>& process) {
  if (process) {
    query.bind_all(process->machine_id, process->boot_id, static_cast<std::int64_t>(process->pid_namespace),
                   process->pid, static_cast<std::int64_t>(process->start_time));
  } else {
    query.bind_null().bind_null().bind_null().bind_null().bind_null();
  }
}

}  // namespace

std::int64_t SqliteTransaction::unix_seconds(Time time) const {
  const WallTime shown = wall_time(time, now_, wall_);
  return std::chrono::floor<std::chrono::seconds>(shown).time_since_epoch().count();
}

Token SqliteTransaction::next_token() {
  // Whoever draws none can still look and give back. (A negative one is too large here.)
  if (numbers_.last_token >= kTokenEnd - 1) {
    throw_corrupt(fmt::format("the last token {}", static_cast<std::int64_t>(numbers_.last_token)));
  }
  const Token next = token_after({numbers_.last_token}, wall_);
  numbers_.last_token = next.value;
  numbers_changed_ = true;
  return next;
}

void SqliteTransaction::count_in(const Lease& lease) {
  if (lease.status != Status::active) return;
  ++counts_[lease.holder.owner];
  has_subtrees_ |= lease.subtree;
}

void SqliteTransaction::put(const Lease& lease) {
  if (const auto known = leases_.find(lease.id.text); known != leases_.end())
    return update(known->second, lease);
  // Most often nobody read it because it is new.
  if (!remembers_all_ && update_unread(lease)) return;
  write(lease, kInsertLease);
  if (connection_.changes() == 1) {
    count_in(lease);
    leases_.emplace(lease.id.text, Stored{lease, connection_.last_row()});
  } else if (!update_unread(lease)) {
    throw_corrupt("the id of another workspace's lease");
  }
}

void SqliteTransaction::extend(const Lease& lease) {
  if (const auto known = leases_.find(lease.id.text); known != leases_.end())
    return update(known->second, lease);
  lease_changes_.add(lease.id, std::nullopt, term_of(lease));
}

bool SqliteTransaction::update_unread(const Lease& lease) {
  std::optional<Lease> before = read(lease.id);
  if (!before) return false;
  const auto known = leases_.find(lease.id.text);
  Stored unknown = {*std::move(before), std::nullopt};
  update(known != leases_.end() ? known->second : unknown, lease);
  return true;
}

void SqliteTransaction::update(Stored& known, const Lease& lease) {
  auto& [stored, row] = known;
  const bool same_owner = stored.holder.owner == lease.holder.owner;
  const bool same_status = stored.status == lease.status;
  if (!same_owner || !same_status || stored.subtree != lease.subtree) {
    if (stored.status == Status::active) --counts_[stored.holder.owner];
    count_in(lease);
  }
  const bool same_term = stored.expires_at == lease.expires_at && stored.ttl == lease.ttl &&
                         stored.last_heartbeat_at == lease.last_heartbeat_at &&
                         stored.renewal_count == lease.renewal_count;
  stored.status = lease.status;
  stored.ended_by = lease.ended_by;
  stored.updated_at = lease.updated_at;
  stored.expires_at = lease.expires_at;
  stored.ttl = lease.ttl;
  stored.last_heartbeat_at = lease.last_heartbeat_at;
  stored.renewal_count = lease.renewal_count;
  const bool same_rest = stored == lease;
  if (same_rest && same_term) return lease_changes_.add(lease.id, row, ending_of(lease));
  if (same_rest && same_status) return lease_changes_.add(lease.id, row, term_of(lease));
  const bool same_place = stored.path == lease.path && stored.subtree == lease.subtree && same_owner &&
                          stored.holder.pr_id == lease.holder.pr_id;
  write(lease, same_place ? kUpdateState : kUpdateLease);
  stored = lease;
}

Ending SqliteTransaction::ending_of(const Lease& lease) const {
  return {.status = word(lease.status),
          .ended_by = word(lease.ended_by),
          .updated_at = unix_seconds(lease.updated_at),
          .updated_ns = to_column(lease.updated_at),
          .deadline_ns = to_column(when(lease))};
}

Term SqliteTransaction::term_of(const Lease& lease) const {
  return {.updated_at = unix_seconds(lease.updated_at),
          .expires_at = unix_seconds(lease.expires_at),
          .ttl_seconds = seconds_of(lease.ttl),
          .expires_ns = to_column(lease.expires_at),
          .heartbeat_ns = to_column(lease.last_heartbeat_at),
          .updated_ns = to_column(lease.updated_at),
          .deadline_ns = to_column(when(lease)),
          .ttl_ms = lease.ttl.count(),
          .renewal_count = lease.renewal_count,
          .durable = connection_.is_durable()};
}

void SqliteTransaction::write(const Lease& lease, const char* sql) {
  const std::string paired_with = to_column(lease.paired_with);
  const std::string pairs = to_column(lease.pairs);
  Query query = on_leases(sql);
  query.bind_all(lease.id.text, alias_, lease.path, std::int64_t{lease.subtree}, lease.holder.owner.agent_id,
                 lease.holder.owner.session_id, lease.holder.pr_id, unix_seconds(lease.created_at),
                 to_column(lease.created_at), word(lease.mode), lease.holder.host);
  bind_process(query, lease.holder.process);
  query.bind_all(static_cast<std::int64_t>(lease.token.value), word(lease.status), word(lease.ended_by),
                 unix_seconds(lease.updated_at), unix_seconds(lease.expires_at), seconds_of(lease.ttl),
                 to_column(lease.acquired_at), to_column(lease.expires_at),
                 to_column(lease.last_heartbeat_at), to_column(lease.updated_at), to_column(lease.idle_at),
                 to_column(lease.recalled_at), to_column(when(lease)), std::int64_t{lease.ttl.count()},
                 std::int64_t{lease.renewal_count}, std::int64_t{lease.max_renewals}, lease.group_id.text,
                 lease.room, lease.reason, lease.trace, std::int64_t{lease.requested}, paired_with, pairs,
                 lease.rule, std::int64_t{lease.attended}, std::int64_t{connection_.is_durable()});
  query.run();
}

void SqliteTransaction::put(const Ticket& ticket) {
  waiting_at_.clear();
  if (!tickets_.contains(ticket.id.text) && insert(ticket)) {
    add_paths(ticket);
  } else {
    const std::optional<Ticket> before = this->ticket(ticket.id);
    if (!before) throw_corrupt("the id of another workspace's ticket");
    update(*before, ticket);
    if (before->status != ticket.status || before->request->paths != ticket.request->paths ||
        in_short(*before) != in_short(ticket)) {
      remove_paths(*before);
      add_paths(ticket);
    }
  }
  tickets_.insert_or_assign(ticket.id.text, ticket);
}

bool SqliteTransaction::insert(const Ticket& ticket) {
  const std::string request = to_json(ticket.request);
  write(ticket, request,
        "INSERT INTO tickets (id, workspace, agent_id, session_id, pr_id, request, sequence, arrival_ns,"
        " order_ns, upgrade, wait_until_ns, proven_until_ns, deadline_ns, status, ended_by, ended_ns, leases,"
        " token) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
        " ON CONFLICT(id) DO NOTHING");
  // Whoever waits reads it again when it is told.
  note_request(request, ticket.request);
  return connection_.changes() == 1;
}

void SqliteTransaction::update(const Ticket& before, const Ticket& ticket) {
  if (before.request == ticket.request) {
    return write(
        ticket, "",
        "UPDATE tickets SET sequence = ?7, arrival_ns = ?8, order_ns = ?9, upgrade = ?10,"
        " wait_until_ns = ?11, proven_until_ns = ?12, deadline_ns = ?13, status = ?14, ended_by = ?15,"
        " ended_ns = ?16, leases = ?17, token = ?18 WHERE id = ?1 AND workspace = ?2");
  }
  write(ticket, to_json(ticket.request),
        "UPDATE tickets SET agent_id = ?3, session_id = ?4, pr_id = ?5, request = ?6, sequence = ?7,"
        " arrival_ns = ?8, order_ns = ?9, upgrade = ?10, wait_until_ns = ?11, proven_until_ns = ?12,"
        " deadline_ns = ?13, status = ?14, ended_by = ?15, ended_ns = ?16, leases = ?17, token = ?18"
        " WHERE id = ?1 AND workspace = ?2");
}

void SqliteTransaction::write(const Ticket& ticket, std::string_view request, const char* sql) {
  const Holder& holder = ticket.request->caller.holder;
  const std::string leases = to_column(ticket.leases);
  connection_.query(sql)
      .bind_all(ticket.id.text, alias_, holder.owner.agent_id, holder.owner.session_id, holder.pr_id, request,
                static_cast<std::int64_t>(ticket.sequence.value), to_column(ticket.arrival),
                to_column(ticket.order), std::int64_t{ticket.upgrade}, to_column(ticket.wait_until),
                to_column(ticket.proven_until), to_column(when(ticket)), word(ticket.status),
                word(ticket.ended_by), to_column(ticket.ended_at), leases,
                static_cast<std::int64_t>(ticket.token.value))
      .run();
}

void SqliteTransaction::add_paths(const Ticket& ticket) {
  if (ticket.status != Status::pending) return;
  has_waiters_ = true;
  const InLine waiter = in_short(ticket);
  for (const WantedPath& wanted : ticket.request->paths) {
    connection_
        .query("INSERT INTO ticket_paths (workspace, file_path, subtree, " IN_LINE_COLUMNS
               ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
               " ON CONFLICT DO UPDATE SET subtree = max(subtree, excluded.subtree)")
        .bind_all(alias_, wanted.path, std::int64_t{wanted.subtree}, waiter.ticket.text,
                  waiter.owner.agent_id, waiter.owner.session_id, std::int64_t{waiter.whole_session},
                  std::int64_t{waiter.upgrade}, to_column(waiter.order),
                  static_cast<std::int64_t>(waiter.sequence.value))
        .run();
  }
}

void SqliteTransaction::remove_paths(const Ticket& ticket) {
  for (const WantedPath& wanted : ticket.request->paths) {
    connection_.query("DELETE FROM ticket_paths WHERE workspace = ? AND file_path = ? AND ticket_id = ?")
        .bind_all(alias_, wanted.path, ticket.id.text)
        .run();
  }
}

void SqliteTransaction::put(const Answer& answer) {
  const std::string leases = to_column(answer.leases);
  connection_
      .query("INSERT OR REPLACE INTO answers (workspace, " ANSWER_COLUMNS
             ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind_all(alias_, answer.owner.agent_id, answer.owner.session_id, answer.key, answer.request_hash,
                answer.group_id.text, leases, std::int64_t{answer.ttl_clamped}, to_column(answer.drop_at))
      .run();
}

void SqliteTransaction::put(const Notice& notice) {
  connection_
      .query("INSERT OR REPLACE INTO notices (workspace, " NOTICE_COLUMNS
             ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind_all(alias_, notice.id, notice.owner.agent_id, notice.owner.session_id, word(notice.cause),
                std::int64_t{notice.received}, notice.lease_id.text, notice.path,
                std::int64_t{notice.subtree}, static_cast<std::int64_t>(notice.token.value), notice.actor,
                notice.reason, to_column(notice.at), to_column(notice.wall), to_column(notice.drop_at))
      .run();
}

void SqliteTransaction::erase(const Notice& notice) {
  connection_.query("DELETE FROM notices WHERE workspace = ? AND agent_id = ? AND session_id = ? AND id = ?")
      .bind_all(alias_, notice.owner.agent_id, notice.owner.session_id, notice.id)
      .run();
}

void SqliteTransaction::put(const Contention& contention) {
  has_contentions_ = true;
  const Holder& holder = contention.wanted.caller.holder;
  const std::string json = to_json(contention);
  connection_
      .query(
          "INSERT OR REPLACE INTO contentions (workspace, agent_id, session_id, pr_id, file_path, contention,"
          " drop_ns) VALUES (?, ?, ?, ?, ?, ?, ?)")
      .bind_all(alias_, holder.owner.agent_id, holder.owner.session_id, holder.pr_id, contention.path, json,
                to_column(contention.drop_at))
      .run();
}

void SqliteTransaction::erase(const Contention& contention) {
  connection_
      .query(
          "DELETE FROM contentions WHERE workspace = ? AND agent_id = ? AND session_id = ? AND file_path = ?")
      .bind_all(alias_, contention.owner().agent_id, contention.owner().session_id, contention.path)
      .run();
}

void SqliteTransaction::append(Event event) {
  event.sequence = ++numbers_.last_sequence;
  numbers_changed_ = true;
  const std::string id = sequence_text(event.sequence);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(event.wall).time_since_epoch().count();
  Query query =
      connection_.query("INSERT INTO lease_history (workspace, event_at, " EVENT_COLUMNS
                        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  query.bind_all(alias_, std::int64_t{seconds}, id, word(event.type), event.lease_id.text,
                 event.group_id.text, event.owner.agent_id, event.owner.session_id, event.pr_id, event.path,
                 std::int64_t{event.subtree}, word(event.mode), static_cast<std::int64_t>(event.token.value));
  for (const std::optional<Status>& status : {event.status_before, event.status_after}) {
    if (status) {
      query.bind(word(*status));
    } else {
      query.bind_null();
    }
  }
  query.bind_all(word(event.cause), std::int64_t{event.renewal_count}, static_cast<std::int64_t>(event.count),
                 to_column(event.at), to_column(event.wall), event.actor, event.reason, event.trace);
  query.run();
}

void SqliteTransaction::put(const Setting& setting) {
  const std::string key = setting.stored_key();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(wall_).time_since_epoch().count();
  connection_
      .query(
          "INSERT INTO lease_configs (id, config_key, config_value, value_type, description, scope, "
          "resource_id,"
          " requires_restart, created_at, updated_at)"
          " VALUES ('leasehold.' || ?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)"
          " ON CONFLICT (config_key) DO UPDATE SET config_value = ?2, value_type = ?3, description = ?4,"
          " scope = ?5, resource_id = ?6, requires_restart = ?7, updated_at = ?8")
      .bind_all(key, setting.value, setting.type, setting.description, setting.scope, setting.resource,
                std::int64_t{setting.requires_restart}, std::int64_t{seconds})
      .run();
}

void SqliteTransaction::erase_setting(const std::string& stored_key) {
  connection_.query("DELETE FROM lease_configs WHERE config_key = ?").bind(stored_key).run();
}

std::size_t SqliteTransaction::forget(Time ended_before, WallTime history_before, std::size_t limit) {
  auto left = static_cast<std::int64_t>(std::min<std::size_t>(limit, 1'000'000));
  std::size_t forgotten = 0;
  lease_changes_.write();
  leases_.clear();
  tickets_.clear();
  waiting_at_.clear();
  const auto remove = [&](const char* sql, std::int64_t moment) {
    connection_.query(sql).bind_all(alias_, moment, left).run();
    left -= connection_.changes();
    forgotten += static_cast<std::size_t>(connection_.changes());
  };
  remove(
      "DELETE FROM leases WHERE rowid IN (SELECT rowid FROM leases INDEXED BY idx_leases_ended WHERE "
      "workspace = ? AND deadline_ns < ? AND status <> 'active' AND status <> 'pending' LIMIT ?)",
      to_column(ended_before));
  remove(
      "DELETE FROM tickets WHERE rowid IN (SELECT rowid FROM tickets INDEXED BY idx_tickets_when WHERE"
      " workspace = ? AND deadline_ns < ? AND status IN ('active', 'released', 'expired', 'failed') LIMIT ?)",
      to_column(ended_before));
  remove(
      "DELETE FROM notices WHERE (workspace, agent_id, session_id, id) IN (SELECT workspace, agent_id, "
      "session_id,"
      " id FROM notices WHERE workspace = ? AND drop_ns <= ? LIMIT ?)",
      to_column(now_));
  remove(
      "DELETE FROM contentions WHERE (workspace, agent_id, session_id, file_path) IN (SELECT workspace, "
      "agent_id,"
      " session_id, file_path FROM contentions WHERE workspace = ? AND drop_ns <= ? LIMIT ?)",
      to_column(now_));
  remove(
      "DELETE FROM answers WHERE (workspace, agent_id, session_id, key) IN (SELECT workspace, agent_id, "
      "session_id,"
      " key FROM answers WHERE workspace = ? AND drop_ns <= ? AND (leases = '' OR NOT EXISTS (SELECT 1 FROM"
      " json_each(answers.leases) AS one JOIN leases ON leases.id = one.value)) LIMIT ?)",
      to_column(now_));
  connection_.query("DELETE FROM rate_windows WHERE workspace = ? AND ends_ns <= ?")
      .bind_all(alias_, to_column(now_))
      .run();
  connection_.query("DELETE FROM session_locks WHERE workspace = ? AND drop_us <= ?")
      .bind_all(alias_, to_column(wall_))
      .run();
  // The oldest are in front, but for what was written while a clock was wrong: so it looks a little further.
  remove(
      "DELETE FROM lease_history WHERE id IN (SELECT id FROM (SELECT id, event_us FROM lease_history INDEXED "
      "BY"
      " idx_lease_history_workspace WHERE workspace = ? ORDER BY id LIMIT 10000) WHERE event_us < ? LIMIT ?)",
      to_column(history_before));
  return forgotten;
}

void SqliteTransaction::write_count(const Owner& owner, std::int64_t change) {
  if (change == 0) return;
  if (change < 0) {
    connection_
        .query("DELETE FROM owners WHERE workspace = ? AND agent_id = ? AND session_id = ? AND leases <= ?")
        .bind_all(alias_, owner.agent_id, owner.session_id, -change)
        .run();
    if (connection_.changes() > 0) return;
  }
  connection_
      .query(
          "INSERT INTO owners (workspace, agent_id, session_id, leases) VALUES (?, ?, ?, ?)"
          " ON CONFLICT DO UPDATE SET leases = leases + excluded.leases")
      .bind_all(alias_, owner.agent_id, owner.session_id, change)
      .run();
}

std::int64_t SqliteTransaction::changes() {
  lease_changes_.write();
  return connection_.total_changes() + std::ssize(bells_);
}

std::vector<GroupId> SqliteTransaction::finish() {
  lease_changes_.write();
  for (const auto& [owner, change] : counts_) write_count(owner, change);
  if (numbers_changed_) {
    connection_.query("UPDATE store SET last_sequence = ?, last_token = ?")
        .bind_all(static_cast<std::int64_t>(numbers_.last_sequence),
                  static_cast<std::int64_t>(numbers_.last_token))
        .run();
  }
  if (changes_before_new_ && connection_.total_changes() > *changes_before_new_) {
    connection_.query("INSERT INTO workspaces (name, alias) VALUES (?, ?)")
        .bind_all(workspace_, alias_)
        .run();
  }
  return std::move(bells_);
}

}  // namespace leasehold::sqlite
