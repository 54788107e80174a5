#include "store/sqlite/boot.h"

#include <fmt/format.h>

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

// An earlier boot's moments, as people's clocks order them, but none after this boot began: whoever lived
// then is gone. (Moments near the end of time would overflow; they are cut first.)
void rebase(Connection& connection, const Boot& boot, const StoreClock& clock, std::int64_t shift) {
  connection
      .query(
          "UPDATE leases SET created_ns = min(created_ns + ?1, 0), acquired_ns = min(acquired_ns + ?1, 0),"
          " expires_ns = min(min(expires_ns, 4000000000000000000) + ?1, 0),"
          " heartbeat_ns = min(heartbeat_ns + ?1, 0), updated_ns = min(updated_ns + ?1, 0),"
          " idle_ns = min(min(idle_ns, 4000000000000000000) + ?1, 0),"
          " recalled_ns = min(min(recalled_ns, 4000000000000000000) + ?1, 0),"
          " deadline_ns = min(min(deadline_ns, 4000000000000000000) + ?1, 0)")
      .bind(shift)
      .run();
  connection
      .query(
          "UPDATE tickets SET arrival_ns = min(arrival_ns + ?1, 0), order_ns = min(order_ns + ?1, 0),"
          " wait_until_ns = min(min(wait_until_ns, 4000000000000000000) + ?1, 0),"
          " proven_until_ns = min(min(proven_until_ns, 4000000000000000000) + ?1, 0),"
          " deadline_ns = min(min(deadline_ns, 4000000000000000000) + ?1, 0),"
          " ended_ns = min(ended_ns + ?1, 0)")
      .bind(shift)
      .run();
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
          "UPDATE store SET machine_id = ?, boot_id = ?, wall_offset_ns = ?, boot_sequence = last_sequence")
      .bind_all(boot.machine_id, boot.boot_id, wall_offset(clock))
      .run();
}

}  // namespace

bool is_current(Connection& connection, const Boot& boot) {
  Query row = connection.query("SELECT boot_id FROM store");
  return row.step() && row.text() == boot.boot_id;
}

Result<void> enter_boot(Connection& connection, const Boot& boot, const StoreClock& clock) {
  std::string machine_id;
  std::string boot_id;
  std::int64_t offset = 0;
  bool is_new = true;
  {
    Query row = connection.query("SELECT machine_id, boot_id, wall_offset_ns FROM store");
    if (row.step()) {
      is_new = false;
      machine_id = row.text();
      boot_id = row.text();
      offset = row.integer();
    }
  }
  // Containers on one kernel share its boot id, whatever machine ids they were given.
  if (!is_new && boot_id == boot.boot_id) return {};
  if (!is_new && machine_id != boot.machine_id) {
    return fail(
        Code::config_error,
        fmt::format(
            "{} belongs to another machine ({}), and its leases mean nothing on this one. To share "
            "leases between machines, run lease serve on one and name it with LEASE_STORE; if this is "
            "a copy, delete it.",
            connection.path(), machine_id.empty() ? "one without an id" : machine_id));
  }
  connection.execute("BEGIN IMMEDIATE");
  if (is_new) {
    begin_store(connection, boot, clock);
  } else {
    rebase(connection, boot, clock, offset - wall_offset(clock));
  }
  connection.execute("COMMIT");
  return {};
}

}  // namespace leasehold::sqlite
