#include "store/sqlite/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace leasehold::sqlite {
namespace {

struct Migration {
  int version;
  const char* name;
  const char* description;
  const char* sql;
};

// Never changed once released: a file made by any of them must still become one of today. 1 to 4 are seed
// 003's own, word for word; a file its program made has them already.
//
// store_ns(unix seconds) is a moment on the store's time line.
constexpr Migration kMigrations[] = {
    {1, "001_create_leases_table", "One row for each lease", R"(
CREATE TABLE IF NOT EXISTS leases (
    id TEXT PRIMARY KEY,
    file_path TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ttl_seconds INTEGER NOT NULL,
    status TEXT NOT NULL,
    renewal_count INTEGER DEFAULT 0,
    max_renewals INTEGER DEFAULT -1,
    updated_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_leases_file_path ON leases(file_path);
CREATE INDEX IF NOT EXISTS idx_leases_agent_id ON leases(agent_id);
CREATE INDEX IF NOT EXISTS idx_leases_expires_at ON leases(expires_at);
CREATE INDEX IF NOT EXISTS idx_leases_file_status ON leases(file_path, status);
CREATE INDEX IF NOT EXISTS idx_leases_agent_status ON leases(agent_id, status);
)"},
    {2, "002_create_lease_history_table", "Everything that happened to leases", R"(
CREATE TABLE IF NOT EXISTS lease_history (
    id TEXT PRIMARY KEY,
    lease_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    file_path TEXT NOT NULL,
    event_type TEXT NOT NULL,
    status_before TEXT,
    status_after TEXT,
    renewal_count INTEGER,
    event_at INTEGER NOT NULL,
    reason TEXT
);
)"},
    {3, "003_create_lease_config_table", "Configuration that can change while it runs", R"(
CREATE TABLE IF NOT EXISTS lease_configs (
    id TEXT PRIMARY KEY,
    config_key TEXT NOT NULL UNIQUE,
    config_value TEXT NOT NULL,
    value_type TEXT NOT NULL,
    description TEXT,
    scope TEXT DEFAULT 'global',
    resource_id TEXT,
    requires_restart INTEGER DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
)"},
    {4, "004_create_migration_tracking_table", "Which of these steps a file has been through", R"(
CREATE TABLE IF NOT EXISTS migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    applied_at INTEGER NOT NULL,
    status TEXT DEFAULT 'success',
    error_message TEXT
);
)"},
    {5, "005_add_what_leases_need", "Workspaces, modes, fencing tokens, exact times, processes", R"(
ALTER TABLE leases ADD COLUMN workspace TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN subtree INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN mode TEXT NOT NULL DEFAULT 'exclusive';
ALTER TABLE leases ADD COLUMN session_id TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN pr_id TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN machine_id TEXT;
ALTER TABLE leases ADD COLUMN boot_id TEXT;
ALTER TABLE leases ADD COLUMN pid_namespace INTEGER;
ALTER TABLE leases ADD COLUMN pid INTEGER;
ALTER TABLE leases ADD COLUMN start_time INTEGER;
ALTER TABLE leases ADD COLUMN token INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN ended_by TEXT NOT NULL DEFAULT 'none';
ALTER TABLE leases ADD COLUMN created_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN acquired_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN expires_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN heartbeat_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN updated_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN idle_ns INTEGER;
ALTER TABLE leases ADD COLUMN recalled_ns INTEGER;
ALTER TABLE leases ADD COLUMN deadline_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN ttl_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leases ADD COLUMN group_id TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN room TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN trace TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN requested INTEGER NOT NULL DEFAULT 1;
ALTER TABLE leases ADD COLUMN paired_with TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN pairs TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN rule TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN attended INTEGER NOT NULL DEFAULT 0;
UPDATE leases SET
    status = lower(status),
    ended_by = CASE lower(status) WHEN 'released' THEN 'released' WHEN 'expired' THEN 'expired'
               WHEN 'failed' THEN 'cancelled' ELSE 'none' END,
    token = max(min(created_at, unixepoch()), 0) * 1000000,
    created_ns = store_ns(created_at),
    acquired_ns = store_ns(created_at),
    heartbeat_ns = store_ns(updated_at),
    updated_ns = store_ns(updated_at),
    expires_ns = store_ns(expires_at),
    deadline_ns = store_ns(CASE lower(status) WHEN 'active' THEN expires_at ELSE updated_at END),
    ttl_ms = ttl_seconds * 1000;
-- A row that waits belongs to a program that is gone: only a ticket can wait.
UPDATE leases SET status = 'failed', ended_by = 'cancelled' WHERE status = 'pending';

-- What may be in the way of a request, found by its path.
CREATE INDEX idx_leases_live ON leases(workspace, file_path) WHERE status = 'active';
CREATE INDEX idx_leases_live_subtree ON leases(workspace, file_path) WHERE status = 'active' AND subtree = 1;
CREATE INDEX idx_leases_live_pr ON leases(workspace, pr_id) WHERE status = 'active' AND pr_id <> '';
-- What may have lapsed, and what ended long ago.
CREATE INDEX idx_leases_when ON leases(workspace, status, deadline_ns) WHERE status <> 'pending';

-- How many active leases an owner has, so that nobody needs to count them.
CREATE TABLE owners (
    workspace TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    leases INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent_id, session_id)
) WITHOUT ROWID;
INSERT INTO owners SELECT workspace, agent_id, session_id, count(*) FROM leases WHERE status = 'active'
    GROUP BY workspace, agent_id, session_id;

-- The same rows, in the order of their ids, which become numbers that rise: the event's sequence.
ALTER TABLE lease_history RENAME TO seed_history;
CREATE TABLE lease_history (
    id TEXT PRIMARY KEY,
    lease_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    file_path TEXT NOT NULL,
    event_type TEXT NOT NULL,
    status_before TEXT,
    status_after TEXT,
    renewal_count INTEGER,
    event_at INTEGER NOT NULL,
    reason TEXT,
    workspace TEXT NOT NULL DEFAULT '',
    group_id TEXT NOT NULL DEFAULT '',
    session_id TEXT NOT NULL DEFAULT '',
    pr_id TEXT NOT NULL DEFAULT '',
    subtree INTEGER NOT NULL DEFAULT 0,
    mode TEXT NOT NULL DEFAULT 'exclusive',
    token INTEGER NOT NULL DEFAULT 0,
    cause TEXT NOT NULL DEFAULT 'none',
    count INTEGER NOT NULL DEFAULT 1,
    event_ns INTEGER NOT NULL DEFAULT 0,
    event_us INTEGER NOT NULL DEFAULT 0,
    actor TEXT NOT NULL DEFAULT '',
    trace TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
INSERT INTO lease_history (id, lease_id, agent_id, file_path, event_type, status_before, status_after,
                           renewal_count, event_at, reason, event_ns, event_us)
    SELECT printf('%016d', row_number() OVER (ORDER BY event_at, rowid)), lease_id, agent_id, file_path,
           lower(event_type), lower(status_before), lower(status_after), coalesce(renewal_count, 0), event_at,
           coalesce(reason, ''), store_ns(event_at), event_at * 1000000
    FROM seed_history;
DROP TABLE seed_history;
CREATE INDEX idx_lease_history_path ON lease_history(workspace, file_path);
CREATE INDEX idx_lease_history_age ON lease_history(workspace, event_us);

CREATE TABLE tickets (
    id TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    pr_id TEXT NOT NULL,
    request TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    arrival_ns INTEGER NOT NULL,
    order_ns INTEGER NOT NULL,
    upgrade INTEGER NOT NULL,
    wait_until_ns INTEGER NOT NULL,
    proven_until_ns INTEGER NOT NULL,
    deadline_ns INTEGER NOT NULL,
    status TEXT NOT NULL,
    ended_by TEXT NOT NULL,
    ended_ns INTEGER NOT NULL,
    leases TEXT NOT NULL,
    token INTEGER NOT NULL
);
CREATE INDEX idx_tickets_when ON tickets(workspace, status, deadline_ns);
-- Where tickets wait; emptied as they stop.
CREATE TABLE ticket_paths (
    workspace TEXT NOT NULL,
    file_path TEXT NOT NULL,
    subtree INTEGER NOT NULL,
    ticket_id TEXT NOT NULL,
    PRIMARY KEY (workspace, file_path, ticket_id)
) WITHOUT ROWID;

CREATE TABLE answers (
    workspace TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    group_id TEXT NOT NULL,
    leases TEXT NOT NULL,
    ttl_clamped INTEGER NOT NULL,
    drop_ns INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent_id, session_id, key)
) WITHOUT ROWID;
CREATE INDEX idx_answers_drop ON answers(workspace, drop_ns);

CREATE TABLE notices (
    id TEXT NOT NULL,
    workspace TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    cause TEXT NOT NULL,
    received INTEGER NOT NULL,
    lease_id TEXT NOT NULL,
    file_path TEXT NOT NULL,
    token INTEGER NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ns INTEGER NOT NULL,
    at_us INTEGER NOT NULL,
    drop_ns INTEGER NOT NULL,
    PRIMARY KEY (workspace, id)
) WITHOUT ROWID;
CREATE INDEX idx_notices_owner ON notices(workspace, agent_id, session_id);

-- What the gate remembers; times are in the JSON.
CREATE TABLE contentions (
    workspace TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    pr_id TEXT NOT NULL,
    file_path TEXT NOT NULL,
    contention TEXT NOT NULL,
    drop_ns INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent_id, session_id, file_path)
) WITHOUT ROWID;

-- The seed's program writes its rows under plain keys, where they would now be everybody's defaults.
UPDATE OR IGNORE lease_configs
    SET config_key = config_key || '@profile:job', scope = 'profile', resource_id = 'job'
    WHERE coalesce(scope, 'global') = 'global' AND config_key IN ('default_ttl_seconds', 'max_renewals',
        'acquisition_timeout_ms', 'cleanup_interval_seconds', 'auto_expire_enabled', 'blocking_mode_enabled',
        'keep_history', 'history_retention_days');
INSERT OR IGNORE INTO lease_configs
    (id, config_key, config_value, value_type, description, scope, resource_id, created_at, updated_at)
    SELECT 'job.' || name, name || '@profile:job', value, type, description, 'profile', 'job',
           unixepoch(), unixepoch()
    FROM (SELECT column1 AS name, column2 AS value, column3 AS type, column4 AS description FROM (VALUES
        ('default_ttl_seconds', '3600', 'int', 'TTL of a new lease, in seconds'),
        ('max_renewals', '-1', 'int', 'How often a lease may be renewed; -1: no limit'),
        ('acquisition_timeout_ms', '30000', 'int', 'How long an acquire waits, and the longest it may, in ms'),
        ('cleanup_interval_seconds', '300', 'int', 'Time between two cleanups, in seconds'),
        ('auto_expire_enabled', 'true', 'bool', 'Whether the sweeper records what ended'),
        ('blocking_mode_enabled', 'true', 'bool', 'Whether an acquire may wait'),
        ('keep_history', 'true', 'bool', 'Whether history is kept'),
        ('history_retention_days', '30', 'int', 'How long history is kept, in days')));

-- One row: whose times these are, and the numbers that only rise.
CREATE TABLE store (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    machine_id TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    wall_offset_ns INTEGER NOT NULL,
    boot_sequence INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    last_token INTEGER NOT NULL
);
)"},
    {6, "006_add_sessions", "How often sessions ask, and what they got and did not give back", R"(
CREATE TABLE rate_windows (
    workspace TEXT NOT NULL,
    session_id TEXT NOT NULL,
    calls INTEGER NOT NULL,
    ends_ns INTEGER NOT NULL,
    PRIMARY KEY (workspace, session_id)
) WITHOUT ROWID;
CREATE TABLE session_locks (
    workspace TEXT NOT NULL,
    session_id TEXT NOT NULL,
    file_path TEXT NOT NULL,
    subtree INTEGER NOT NULL,
    mode TEXT NOT NULL,
    drop_us INTEGER,
    PRIMARY KEY (workspace, session_id, file_path, subtree)
) WITHOUT ROWID;
)"},
    {7, "007_sort_by_owner_and_workspace", "Notices by owner, and history by workspace, each in its order",
     R"(
ALTER TABLE notices RENAME TO notices_by_id;
CREATE TABLE notices (
    workspace TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    id TEXT NOT NULL,
    cause TEXT NOT NULL,
    received INTEGER NOT NULL,
    lease_id TEXT NOT NULL,
    file_path TEXT NOT NULL,
    token INTEGER NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ns INTEGER NOT NULL,
    at_us INTEGER NOT NULL,
    drop_ns INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent_id, session_id, id)
) WITHOUT ROWID;
INSERT INTO notices SELECT workspace, agent_id, session_id, id, cause, received, lease_id, file_path, token,
                           actor, reason, at_ns, at_us, drop_ns FROM notices_by_id;
DROP TABLE notices_by_id;

-- With the id, which is behind every index of this table.
DROP INDEX idx_lease_history_age;
CREATE INDEX idx_lease_history_workspace ON lease_history(workspace);
)"},
    {8, "008_store_less_of_a_lease", "Aliases for workspaces, and one index for each purpose", R"(
-- A short alias stands for a workspace in every other table. Those that are there keep their names: a hook has
-- seconds, and history may have a million rows.
CREATE TABLE workspaces (
    name TEXT PRIMARY KEY,
    alias TEXT NOT NULL UNIQUE
) WITHOUT ROWID;
INSERT INTO workspaces SELECT workspace, workspace FROM (
    SELECT workspace FROM leases
    UNION SELECT workspace FROM lease_history
    UNION SELECT workspace FROM tickets
    UNION SELECT workspace FROM ticket_paths
    UNION SELECT workspace FROM answers
    UNION SELECT workspace FROM notices
    UNION SELECT workspace FROM contentions
    UNION SELECT workspace FROM owners
    UNION SELECT workspace FROM rate_windows
    UNION SELECT workspace FROM session_locks);

-- The seed gives each index a name and a purpose. A lease that ends leaves those over active rows only.
DROP INDEX IF EXISTS idx_leases_live;
DROP INDEX IF EXISTS idx_leases_when;
DROP INDEX IF EXISTS idx_leases_file_path;
DROP INDEX IF EXISTS idx_leases_expires_at;
DROP INDEX IF EXISTS idx_leases_file_status;
DROP INDEX IF EXISTS idx_leases_agent_status;
-- Who had a file last.
CREATE INDEX idx_leases_file_path ON leases(file_path, workspace, session_id);
-- What may have lapsed.
CREATE INDEX idx_leases_expires_at ON leases(workspace, deadline_ns) WHERE status = 'active';
-- What may be in the way of a request.
CREATE INDEX idx_leases_file_status ON leases(workspace, file_path) WHERE status = 'active';
-- What an owner has.
CREATE INDEX idx_leases_agent_status ON leases(workspace, agent_id, session_id) WHERE status = 'active';
-- What ended long ago.
CREATE INDEX idx_leases_ended ON leases(workspace, deadline_ns)
    WHERE status <> 'active' AND status <> 'pending';
)"},
    {9, "009_tell_of_subtrees", "Whether a notice is of a name or of a directory and all below it",
     "ALTER TABLE notices ADD COLUMN subtree INTEGER NOT NULL DEFAULT 0;"},
    {10, "010_mark_what_is_durable", "Which leases a power cut cannot have taken: they may outlive a reboot",
     "ALTER TABLE leases ADD COLUMN durable INTEGER NOT NULL DEFAULT 0;"},
    {11, "011_know_a_line", "Who waits for a path and in which order, without reading what they want", R"(
ALTER TABLE ticket_paths RENAME TO ticket_paths_before;
CREATE TABLE ticket_paths (
    workspace TEXT NOT NULL,
    file_path TEXT NOT NULL,
    subtree INTEGER NOT NULL,
    ticket_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    whole_session INTEGER NOT NULL,
    upgrade INTEGER NOT NULL,
    order_ns INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (workspace, file_path, ticket_id)
) WITHOUT ROWID;
INSERT INTO ticket_paths
    SELECT old.workspace, file_path, subtree, ticket_id, tickets.agent_id, tickets.session_id,
           ifnull(iif(json_valid(request), json_extract(request, '$.whole_session'), 0), 0), tickets.upgrade,
           tickets.order_ns, tickets.sequence
    FROM ticket_paths_before AS old JOIN tickets ON tickets.id = ticket_id;
DROP TABLE ticket_paths_before;
)"},
};

std::int64_t number(Connection& connection, const char* sql) {
  Query query = connection.query(sql);
  return query.step() ? query.integer() : 0;
}

Error foreign(const Connection& connection) {
  return {Code::config_error, fmt::format("{} is a database of some other program, not a store of Leasehold. "
                                          "Nothing was changed. Name another place with LEASE_STORE.",
                                          connection.path())};
}

Error too_new(const Connection& connection, std::int64_t version) {
  return {
      Code::config_error,
      fmt::format("{} was written by a newer Leasehold (its version is {}, this one knows up to {}). Nothing "
                  "was changed. Update lease.",
                  connection.path(), version, latest_version())};
}

// Seed 003's own program marks its files only by their tables.
Result<int> version_of_unmarked(Connection& connection) {
  if (number(connection, "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'") == 0) return 0;
  if (number(connection,
             "SELECT count(*) FROM pragma_table_info('leases') WHERE name IN ('id', 'file_path', "
             "'agent_id', 'created_at', 'expires_at', 'ttl_seconds', 'status', 'renewal_count', "
             "'max_renewals', 'updated_at')") != 10) {
    return fail(foreign(connection));
  }
  if (number(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'") == 0) return 0;
  const auto recorded = number(connection, "SELECT max(version) FROM migrations WHERE status = 'success'");
  if (recorded < 0 || recorded > 4) return fail(foreign(connection));
  return static_cast<int>(recorded);
}

void store_ns(sqlite3_context* context, int, sqlite3_value** values) {
  const auto& clock = *static_cast<const StoreClock*>(sqlite3_user_data(context));
  // What is no moment anybody meant must not overflow.
  constexpr std::int64_t kYear2223 = 8'000'000'000;
  const auto seconds = std::clamp<std::int64_t>(sqlite3_value_int64(values[0]), 0, kYear2223);
  const WallTime then{std::chrono::seconds(seconds)};
  const Time moment = clock.now() + (then - clock.wall());
  sqlite3_result_int64(context, moment.time_since_epoch().count());
}

void apply(Connection& connection, const Migration& migration) {
  connection.execute("BEGIN IMMEDIATE");
  connection.execute(migration.sql);
  // Seed 003 gives its tables no place to record the first three before the fourth exists.
  if (migration.version >= 4) {
    for (const Migration& done : kMigrations) {
      if (done.version > migration.version) break;
      connection
          .query(
              "INSERT INTO migrations (version, name, description, applied_at) VALUES (?, ?, ?, unixepoch()) "
              "ON CONFLICT(version) DO UPDATE SET status = 'success', error_message = NULL, applied_at = "
              "excluded.applied_at WHERE status <> 'success'")
          .bind_all(std::int64_t{done.version}, std::string_view(done.name),
                    std::string_view(done.description))
          .run();
    }
  }
  connection.execute(fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}; COMMIT",
                                 migration.version, kApplicationId)
                         .c_str());
}

void record_failure(Connection& connection, const Migration& migration, const Error& error) {
  try {
    connection
        .query(
            "INSERT OR REPLACE INTO migrations (version, name, description, applied_at, status, "
            "error_message) "
            "VALUES (?, ?, ?, unixepoch(), 'failed', ?)")
        .bind_all(std::int64_t{migration.version}, std::string_view(migration.name),
                  std::string_view(migration.description), std::string_view(error.message))
        .run();
  } catch (const Failure&) {
    // The file that failed to change cannot be written either; the caller hears of the first failure.
  }
}

}  // namespace

int latest_version() { return std::ssize(kMigrations); }

Result<int> version_of(Connection& connection) {
  // Of one moment: another process may be about to make this file.
  const Rollback afterwards(connection);
  connection.execute("BEGIN");
  const auto application = number(connection, "PRAGMA application_id");
  const auto version = number(connection, "PRAGMA user_version");
  if (application == 0 && version == 0) return version_of_unmarked(connection);
  if (application != kApplicationId) return fail(foreign(connection));
  if (version < 0) throw_corrupt(fmt::format("the version {}", version));
  if (version > latest_version()) return fail(too_new(connection, version));
  return static_cast<int>(version);
}

Result<void> migrate(Connection& connection, int from, const StoreClock& clock) {
  sqlite3_create_function(connection.handle(), "store_ns", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                          const_cast<StoreClock*>(&clock), store_ns, nullptr, nullptr);
  for (const Migration& migration : std::span(kMigrations).subspan(static_cast<std::size_t>(from))) {
    try {
      apply(connection, migration);
    } catch (const Failure& failure) {
      if (sqlite3_get_autocommit(connection.handle()) == 0) connection.execute("ROLLBACK");
      record_failure(connection, migration, failure.error);
      // The step itself cannot be done here; anything else has nothing to do with it.
      const int code = failure.sqlite_code & 0xff;
      if (code != SQLITE_ERROR && code != SQLITE_CONSTRAINT) return fail(failure.error);
      return fail(Code::config_error,
                  fmt::format("Cannot bring {} up to date: step {} failed: {} Nothing of it was kept.",
                              connection.path(), migration.name, failure.error.message));
    }
  }
  return {};
}

}  // namespace leasehold::sqlite
