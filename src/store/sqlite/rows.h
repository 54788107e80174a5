// Records as rows: each reads and binds its columns in the order its column list names them.
#pragma once

#include "leasehold/gate.h"
#include "leasehold/lease.h"
#include "store/records.h"
#include "store/sqlite/connection.h"

namespace leasehold::sqlite {

// The columns that make a lease again, and then its row. Those for people only (created_at, ttl_seconds, ...)
// are not read.
#define LEASE_COLUMNS                                                                                       \
  "leases.id, file_path, subtree, mode, agent_id, session_id, pr_id, host, machine_id, "                    \
  "boot_id, pid_namespace, pid, start_time, token, status, ended_by, created_ns, acquired_ns, expires_ns, " \
  "heartbeat_ns, updated_ns, idle_ns, recalled_ns, ttl_ms, renewal_count, max_renewals, group_id, room, "   \
  "reason, trace, requested, paired_with, pairs, rule, attended, leases.rowid"
#define TICKET_COLUMNS                                                                                    \
  "tickets.id, request, tickets.sequence, arrival_ns, tickets.order_ns, tickets.upgrade, wait_until_ns, " \
  "proven_until_ns, status, ended_by, ended_ns, leases, token"
#define IN_LINE_COLUMNS "ticket_id, agent_id, session_id, whole_session, upgrade, order_ns, sequence"
#define EVENT_COLUMNS                                                                                  \
  "id, event_type, lease_id, group_id, agent_id, session_id, pr_id, file_path, subtree, mode, token, " \
  "status_before, status_after, cause, renewal_count, count, event_ns, event_us, actor, reason, trace"
#define NOTICE_COLUMNS                                                                                     \
  "id, agent_id, session_id, cause, received, lease_id, file_path, subtree, token, actor, reason, at_ns, " \
  "at_us, "                                                                                                \
  "drop_ns"
#define ANSWER_COLUMNS "agent_id, session_id, key, request_hash, group_id, leases, ttl_clamped, drop_ns"
#define SETTING_COLUMNS \
  "config_key, config_value, value_type, description, scope, resource_id, requires_restart, updated_at"

// All throw Failure for a row that cannot be a record.
Lease read_lease(Query& row, const std::string& workspace);
Ticket read_ticket(Query& row, const std::string& workspace);
InLine read_in_line(Query& row);
// This thread need not parse it then.
void note_request(const std::string& text, const CopyOnWrite<AcquireRequest>& request);
Event read_event(Query& row);
Notice read_notice(Query& row);
Answer read_answer(Query& row);
Setting read_setting(Query& row);
Contention read_contention(Query& row);

// When somebody has to look at it again; once it is over, since when that is so.
Time when(const Lease& lease);
Time when(const Ticket& ticket);

inline std::int64_t to_column(Time time) { return time.time_since_epoch().count(); }
inline std::int64_t to_column(WallTime time) { return time.time_since_epoch().count(); }
std::optional<std::int64_t> to_column(std::optional<Time> time);

// Lists are empty text where there is nothing, as is most often the case.
std::string to_column(const std::vector<std::string>& texts);
std::string to_column(const std::vector<LeaseId>& ids);

// Sequences as text of equal length, so that their order is the numbers'.
std::string sequence_text(std::uint64_t sequence);

}  // namespace leasehold::sqlite
