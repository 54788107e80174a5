#include "store/sqlite/boot.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/sqlite/rows.h"

namespace leasehold::sqlite {
namespace {

// Where the store's zero lies on people's clocks.
std::int64_t wall_offset(const StoreClock& clock) {
  return std::chrono::nanoseconds(clock.wall().time_since_epoch()).count() - to_column(clock.now());
}

void begin_store(Connection& connection, const Boot& boot, const StoreClock& clock) {
  connection
      .query(
          "INSERT INTO store (id, machine_id, boot_id, wall_offset_ns, boot_sequence, last_sequence, "
          "last_token)"
          " SELECT 1, ?, ?, ?, 0, (SELECT coalesce(max(id), 0) + 0 FROM lease_history),"
          " (SELECT coalesce(max(token), 0) FROM leases)")
      .bind_all(boot.machine_id, boot.boot_id, wall_offset(clock))
      .run();
}

// The last moment of the boot that is over that anybody noted; it lasted at least until then.
std::int64_t last_moment(Connection& connection) {
  Query row = connection.query(
      "SELECT event_ns FROM lease_history WHERE id > (SELECT printf('%016d', boot_sequence) FROM store)"
      " ORDER BY id DESC LIMIT 1");
  return row.step() ? std::max<std::int64_t>(row.integer(), 0) : 0;
}

// Of an earlier boot, and yet somebody may rely on it: a daemon granted it, so no power cut took it, and its
// holder is no process of the machine that went down. ?2: the boot's last moment, ?3: its id, ?4: the
// machine.
#define LIVES_ON                                        \
  "(status = 'active' AND durable AND deadline_ns > ?2" \
  " AND (pid IS NULL OR (boot_id IS NOT ?3 AND machine_id IS NOT ?4)))"
#define PAST_MOMENTS                                                              \
  "created_ns = min(created_ns + ?1, 0), acquired_ns = min(acquired_ns + ?1, 0)," \
  " heartbeat_ns = min(heartbeat_ns + ?1, 0), updated_ns = min(updated_ns + ?1, 0), "

// Leases that live on have all their time before them again: how much of it was over is not known. (What is
// until released stays so; that no other can be so long is what the number says.)
void rebase_leases(Connection& connection, const Boot& old, const StoreClock& clock, std::int64_t shift) {
  const std::int64_t last = last_moment(connection);
  connection
      .query("UPDATE leases SET " PAST_MOMENTS
             " expires_ns = min(min(expires_ns, 4000000000000000000) + ?1, 0),"
             " idle_ns = min(min(idle_ns, 4000000000000000000) + ?1, 0),"
             " recalled_ns = min(min(recalled_ns, 4000000000000000000) + ?1, 0),"
             " deadline_ns = min(min(deadline_ns, 4000000000000000000) + ?1, 0) WHERE NOT " LIVES_ON)
      .bind_all(shift, last, old.boot_id, old.machine_id)
      .run();
  connection
      .query("UPDATE leases SET " PAST_MOMENTS
             " expires_ns = iif(ttl_ms > 9000000000000, 9223372036854775807, ?5 + ttl_ms * 1000000),"
             " expires_at = ?6 + ttl_seconds,"
             " idle_ns = ?5 + idle_ns - updated_ns,"
             " recalled_ns = ?5 + recalled_ns - updated_ns WHERE " LIVES_ON)
      .bind_all(shift, last, old.boot_id, old.machine_id, to_column(clock.now()),
                to_column(clock.wall()) / 1'000'000)
      .run();
}

// Of the leases that live on. Returns how many there are.
std::int64_t record_grace(Connection& connection, const StoreClock& clock) {
  connection
      .query(
          "UPDATE leases SET deadline_ns = min(expires_ns, coalesce(idle_ns, expires_ns),"
          " coalesce(recalled_ns, expires_ns)) WHERE status = 'active' AND expires_ns > 0")
      .run();
  connection
      .query(
          "INSERT INTO lease_history (id, workspace, event_type, lease_id, group_id, agent_id, session_id,"
          " pr_id, file_path, subtree, mode, token, status_before, status_after, renewal_count, event_at,"
          " event_ns, event_us, reason, trace)"
          " SELECT printf('%016d', (SELECT last_sequence FROM store) + row_number() OVER (ORDER BY id)),"
          " workspace, 'renewed', id, group_id, agent_id, session_id, pr_id, file_path, subtree, mode, token,"
          " status, status, renewal_count, ?2 / 1000000, ?1, ?2, 'the machine of the store was restarted',"
          " trace FROM leases WHERE status = 'active' AND expires_ns > 0")
      .bind_all(to_column(clock.now()), to_column(clock.wall()))
      .run();
  return connection.changes();
}

// An earlier boot's moments, as people's clocks order them, but none after this boot began: who lived on this
// machine then is gone. (Moments near the end of time would overflow; they are cut first.)
void rebase(Connection& connection, const Boot& old, const Boot& boot, const StoreClock& clock,
            std::int64_t shift) {
  rebase_leases(connection, old, clock, shift);
  const std::int64_t recorded = record_grace(connection, clock);
  connection
      .query(
          "UPDATE tickets SET arrival_ns = min(arrival_ns + ?1, 0), order_ns = min(order_ns + ?1, 0),"
          " wait_until_ns = min(min(wait_until_ns, 4000000000000000000) + ?1, 0),"
          " proven_until_ns = min(min(proven_until_ns, 4000000000000000000) + ?1, 0),"
          " deadline_ns = min(min(deadline_ns, 4000000000000000000) + ?1, 0),"
          " ended_ns = min(ended_ns + ?1, 0)")
      .bind(shift)
      .run();
  connection.query("UPDATE ticket_paths SET order_ns = min(order_ns + ?1, 0)").bind(shift).run();
  connection
      .query(
          "UPDATE notices SET at_ns = min(at_ns + ?1, 0), drop_ns = min(drop_ns, 4000000000000000000) + ?1")
      .bind(shift)
      .run();
  // Whoever was denied then is gone.
  connection.query("DELETE FROM contentions").run();
  // Booting took longer than anybody's minute. What sessions had is kept: they may come back.
  connection.query("DELETE FROM rate_windows").run();
  connection.query("UPDATE answers SET drop_ns = min(drop_ns, 4000000000000000000) + ?1").bind(shift).run();
  connection
      .query(
          "UPDATE store SET machine_id = ?, boot_id = ?, wall_offset_ns = ?, boot_sequence = last_sequence,"
          " last_sequence = last_sequence + ?")
      .bind_all(boot.machine_id, boot.boot_id, wall_offset(clock), recorded)
      .run();
}

}  // namespace

bool is_current(Connection& connection, const Boot& boot) {
  Query row = connection.query("SELECT boot_id FROM store");
  return row.step() && row.text() == boot.boot_id;
}

Result<void> enter_boot(Connection& connection, const Boot& boot, const StoreClock& clock) {
  Boot old;
  std::int64_t offset = 0;
  bool is_new = true;
  {
    Query row = connection.query("SELECT machine_id, boot_id, wall_offset_ns FROM store");
    if (row.step()) {
      is_new = false;
      old.machine_id = row.text();
      old.boot_id = row.text();
      offset = row.integer();
    }
  }
  // Containers on one kernel share its boot id, whatever machine ids they were given.
  if (!is_new && old.boot_id == boot.boot_id) return {};
  if (!is_new && old.machine_id != boot.machine_id) {
    return fail(
        Code::config_error,
        fmt::format(
            "{} belongs to another machine ({}), and its leases mean nothing on this one. To share "
            "leases between machines, run lease serve on one and name it with LEASE_STORE; if this is "
            "a copy, delete it.",
            connection.path(), old.machine_id.empty() ? "one without an id" : old.machine_id));
  }
  connection.execute("BEGIN IMMEDIATE");
  if (is_new) {
    begin_store(connection, boot, clock);
  } else {
    rebase(connection, old, boot, clock, offset - wall_offset(clock));
  }
  connection.execute("COMMIT");
  return {};
}

}  // namespace leasehold::sqlite
