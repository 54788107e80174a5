// The tables: those of seed 003, and how its files become ours.
#include "store/sqlite/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "store/stored.h"
#include "support/raw_sqlite.h"
#include "support/sqlite_place.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Seed 003's files, word for word but for the comments.
constexpr const char* kSeedTables = R"(
CREATE TABLE leases (
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
    reason TEXT
);
CREATE TABLE lease_configs (
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
)";
constexpr const char* kSeedIndexes = R"(
CREATE INDEX idx_leases_file_path ON leases(file_path);
CREATE INDEX idx_leases_agent_id ON leases(agent_id);
CREATE INDEX idx_leases_expires_at ON leases(expires_at);
CREATE INDEX idx_leases_file_status ON leases(file_path, status);
CREATE INDEX idx_leases_agent_status ON leases(agent_id, status);
)";
constexpr const char* kSeedMigrations = R"(
CREATE TABLE migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    applied_at INTEGER NOT NULL,
    status TEXT DEFAULT 'success',
    error_message TEXT
);
INSERT INTO migrations (version, name, applied_at) VALUES (1, '001_create_leases_table', 1767225600),
    (2, '002_create_lease_history_table', 1767225600), (3, '003_create_lease_config_table', 1767225600),
    (4, '004_create_migration_tracking_table', 1767225600);
)";
// ManualClock::kWallStart is 1767225600. One lease lives, one is over, and one of each other kind, as
// Rust's Debug and as serde would have written them.
constexpr const char* kSeedRows = R"(
INSERT INTO leases VALUES
  ('11111111-0000-4000-8000-000000000001', '/tmp/a', 'agent-1', 1767225500, 1767229100, 3600, 'Active', 2, 5, 1767225550),
  ('11111111-0000-4000-8000-000000000002', '/tmp/b', 'agent-1', 1767220000, 1767223600, 3600, 'active', 0, -1, 1767220000),
  ('11111111-0000-4000-8000-000000000003', '/tmp/c', 'agent-2', 1767220000, 1767223600, 3600, 'Released', 0, -1, 1767220100),
  ('11111111-0000-4000-8000-000000000004', '/tmp/c', 'agent-2', 1767220000, 1767223600, 3600, 'expired', 0, -1, 1767223600),
  ('11111111-0000-4000-8000-000000000005', '/tmp/d', 'agent-3', 1767220000, 1767223600, 3600, 'Failed', 0, -1, 1767220000),
  ('11111111-0000-4000-8000-000000000006', '/tmp/d', 'agent-3', 1767225000, 1767228600, 3600, 'Pending', 0, -1, 1767225000);
INSERT INTO lease_history VALUES
  ('fffffff1-0000-4000-8000-000000000001', '11111111-0000-4000-8000-000000000003', 'agent-2', '/tmp/c', 'acquired', NULL, 'Active', 0, 1767220000, NULL),
  ('ccccccc1-0000-4000-8000-000000000002', '11111111-0000-4000-8000-000000000003', 'agent-2', '/tmp/c', 'Released', 'Active', 'Released', NULL, 1767220100, 'done'),
  ('aaaaaaa1-0000-4000-8000-000000000003', '11111111-0000-4000-8000-000000000001', 'agent-1', '/tmp/a', 'renewed', 'active', 'active', 2, 1767225550, 'still at it');
INSERT INTO lease_configs VALUES ('x', 'default_ttl_seconds', '60', 'int', NULL, 'global', NULL, 0, 1, 1),
  ('y', 'theirs', '1', 'int', NULL, 'global', NULL, 0, 1, 1);
)";

class SchemaTest : public testing::Test {
 public:
  std::string sql(const std::string& text) const { return run_sql(place.database(), text); }

  // A file as the seed's own program made it.
  void make_seed_file(const std::string& statements) const {
    std::filesystem::create_directories(place.folder());
    ASSERT_EQ(sql(statements), "");
  }

  // The columns, types, defaults and keys of a seed's table.
  std::string columns(const std::string& table, int count) const {
    return sql(fmt::format(
        "SELECT name, type, \"notnull\" OR pk, dflt_value, pk FROM pragma_table_info('{}') WHERE cid < {}",
        table, count));
  }

  SqlitePlace place;
};

TEST_F(SchemaTest, TheTablesAreThoseOfTheSeed) {
  (void)place.open();
  TempFolder folder;
  const std::string seed = folder.path() + "/seed.db";
  ASSERT_EQ(run_sql(seed, std::string(kSeedTables) + kSeedMigrations), "");

  for (const std::string table : {"leases", "lease_history", "lease_configs", "migrations"}) {
    const std::string wanted = run_sql(
        seed, "SELECT name, type, \"notnull\" OR pk, dflt_value, pk FROM pragma_table_info('" + table + "')");
    const auto count = static_cast<int>(std::ranges::count(wanted, '\n'));
    EXPECT_EQ(columns(table, count), wanted) << table;
  }
  EXPECT_EQ(
      sql("SELECT count(*) FROM pragma_index_list('lease_configs') WHERE \"unique\" = 1 AND origin = 'u'"),
      "1\n");
}

// Their names and what they are for are the seed's.
TEST_F(SchemaTest, TheFiveIndexesOfTheSeedServeTheirPurpose) {
  (void)place.open();
  const auto serves = [&](const std::string& index, const std::string& condition) {
    const std::string plan = sql("EXPLAIN QUERY PLAN SELECT * FROM leases WHERE " + condition);
    EXPECT_NE(plan.find("USING INDEX " + index + " ("), std::string::npos) << plan;
  };

  serves("idx_leases_file_path", "file_path = '/a'");
  serves("idx_leases_agent_id", "agent_id = 'a'");
  serves("idx_leases_expires_at", "workspace = '1' AND deadline_ns < 7 AND status = 'active'");
  serves("idx_leases_file_status", "workspace = '1' AND file_path = '/a' AND status = 'active'");
  serves("idx_leases_agent_status", "workspace = '1' AND agent_id = 'a' AND status = 'active'");
}

TEST_F(SchemaTest, TheDefaultConfigurationIsTheSeedsForTheJobProfile) {
  (void)place.open();

  EXPECT_EQ(sql("SELECT config_key, config_value, value_type, scope, resource_id, requires_restart FROM "
                "lease_configs "
                "ORDER BY rowid"),
            "default_ttl_seconds@profile:job|3600|int|profile|job|0\n"
            "max_renewals@profile:job|-1|int|profile|job|0\n"
            "acquisition_timeout_ms@profile:job|30000|int|profile|job|0\n"
            "cleanup_interval_seconds@profile:job|300|int|profile|job|0\n"
            "auto_expire_enabled@profile:job|true|bool|profile|job|0\n"
            "blocking_mode_enabled@profile:job|true|bool|profile|job|0\n"
            "keep_history@profile:job|true|bool|profile|job|0\n"
            "history_retention_days@profile:job|30|int|profile|job|0\n");
}

TEST_F(SchemaTest, EveryStepIsRecorded) {
  (void)place.open();

  EXPECT_EQ(
      sql("SELECT version, name, status, error_message, applied_at > 0, description <> '' FROM migrations"),
      "1|001_create_leases_table|success|NULL|1|1\n"
      "2|002_create_lease_history_table|success|NULL|1|1\n"
      "3|003_create_lease_config_table|success|NULL|1|1\n"
      "4|004_create_migration_tracking_table|success|NULL|1|1\n"
      "5|005_add_what_leases_need|success|NULL|1|1\n"
      "6|006_add_sessions|success|NULL|1|1\n"
      "7|007_sort_by_owner_and_workspace|success|NULL|1|1\n"
      "8|008_store_less_of_a_lease|success|NULL|1|1\n"
      "9|009_tell_of_subtrees|success|NULL|1|1\n"
      "10|010_mark_what_is_durable|success|NULL|1|1\n"
      "11|011_know_a_line|success|NULL|1|1\n");
  EXPECT_EQ(sql("PRAGMA user_version; PRAGMA application_id; PRAGMA journal_mode"),
            fmt::format("{}\n{}\nwal\n", sqlite::latest_version(), sqlite::kApplicationId));
}

// Another process makes the file between two looks at it.
TEST_F(SchemaTest, WhatAFileIsIsReadAtOneMoment) {
  std::filesystem::create_directories(place.folder());
  ASSERT_EQ(sql("PRAGMA journal_mode = WAL"), "wal\n");
  auto connection = sqlite::Connection::open(place.database(), nullptr, false);
  ASSERT_TRUE(connection);
  const auto interfere = [](unsigned, void* self, void* statement, void*) {
    const char* text = sqlite3_sql(static_cast<sqlite3_stmt*>(statement));
    if (text == std::string_view("PRAGMA user_version"))
      static_cast<SchemaTest*>(self)->sql("PRAGMA application_id = 7; PRAGMA user_version = 1");
    return 0;
  };
  sqlite3_trace_v2((*connection)->handle(), SQLITE_TRACE_STMT, interfere, this);

  const auto version = sqlite::version_of(**connection);

  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(*version, 0);
  EXPECT_FALSE(sqlite::version_of(**connection)) << "now it is some other program's";
}

TEST_F(SchemaTest, OpeningAgainChangesNothing) {
  (void)place.open();
  const std::string before =
      sql("SELECT * FROM migrations; SELECT * FROM lease_configs; SELECT sql FROM sqlite_schema");

  (void)place.open();

  EXPECT_EQ(sql("SELECT * FROM migrations; SELECT * FROM lease_configs; SELECT sql FROM sqlite_schema"),
            before);
}

TEST_F(SchemaTest, WhatSomebodyConfiguredStays) {
  (void)place.open();
  ASSERT_EQ(sql("UPDATE lease_configs SET config_value = '60' WHERE config_key = "
                "'default_ttl_seconds@profile:job'"),
            "");

  (void)place.open();

  EXPECT_EQ(
      sql("SELECT config_value FROM lease_configs WHERE config_key = 'default_ttl_seconds@profile:job'"),
      "60\n");
}

// What a file of the seed must be like once it is ours.
void expect_upgraded(const SchemaTest& test) {
  const auto store = test.place.open();
  ASSERT_TRUE(store);
  EXPECT_EQ(test.sql("SELECT count(*) FROM leases; SELECT count(*) FROM lease_history"), "6\n3\n");
  EXPECT_EQ(test.sql("SELECT config_value FROM lease_configs WHERE config_key = "
                     "'default_ttl_seconds@profile:job' AND scope = 'profile' AND resource_id = 'job'"),
            "60\n");
  EXPECT_EQ(test.sql("SELECT count(*) FROM lease_configs WHERE scope = 'profile'"), "8\n");
  EXPECT_EQ(test.sql("SELECT config_key FROM lease_configs WHERE scope <> 'profile'"), "theirs\n");
  EXPECT_EQ(test.sql("SELECT count(*) FROM migrations WHERE status = 'success'"),
            fmt::format("{}\n", sqlite::latest_version()));
  look(
      *store,
      [&](View& view) {
        const auto id = [](int number) {
          return LeaseId{fmt::format("11111111-0000-4000-8000-{:012}", number)};
        };
        const std::optional<Lease> held = view.lease(id(1));
        ASSERT_TRUE(held);
        EXPECT_EQ(held->path, "/tmp/a");
        EXPECT_EQ(held->holder.owner, (Owner{"agent-1", ""}));
        EXPECT_EQ(held->mode, Mode::exclusive);
        EXPECT_EQ(held->status, Status::active);
        EXPECT_EQ(held->ended_by, EndCause::none);
        EXPECT_EQ(held->renewal_count, 2);
        EXPECT_EQ(held->max_renewals, 5);
        EXPECT_EQ(held->ttl, 1h);
        EXPECT_EQ(held->acquired_at, ManualClock::kStart - 100s);
        EXPECT_EQ(held->last_heartbeat_at, ManualClock::kStart - 50s);
        EXPECT_EQ(held->expires_at, ManualClock::kStart + 3500s);
        const std::vector<std::pair<int, Status>> statuses = {{2, Status::active},
                                                              {3, Status::released},
                                                              {4, Status::expired},
                                                              {5, Status::failed},
                                                              {6, Status::failed}};
        for (const auto& [number, status] : statuses)
          EXPECT_EQ(view.lease(id(number))->status, status) << number;
        EXPECT_EQ(view.leases({}).size(), 2U);
        EXPECT_EQ(view.leases_at({"/tmp", true}).size(), 2U);
        EXPECT_EQ(view.lease_count({"agent-1", ""}), 2U);
        EXPECT_EQ(view.due(view.now(), 10).leases.size(), 1U) << "the other still has its time";

        const std::vector<Event> events = view.history({});
        ASSERT_EQ(events.size(), 3U);
        EXPECT_EQ(events[0].type, EventType::acquired);
        EXPECT_EQ(events[0].status_before, std::nullopt);
        EXPECT_EQ(events[0].status_after, Status::active);
        EXPECT_EQ(events[1].type, EventType::released);
        EXPECT_EQ(events[1].reason, "done");
        EXPECT_EQ(events[1].renewal_count, 0);
        EXPECT_EQ(events[2].wall, ManualClock::kWallStart - 50s);
        EXPECT_EQ(events[2].at, ManualClock::kStart - 50s);
        EXPECT_EQ(view.history({.path = "/tmp/c"}).size(), 2U);
        EXPECT_EQ(view.history({.after = events[1].sequence}).size(), 1U);
      },
      "");
  // And goes on from there.
  const auto done = try_commit(
      *store,
      [&](Transaction& transaction) {
        EXPECT_GT(transaction.next_token().value, 1767225500'000000U);
        transaction.append(make_event(make_lease(1, "/new")));
        EXPECT_EQ(transaction.history({}).back().path, "/new");
        EXPECT_EQ(transaction.history({}).size(), 4U);
      },
      false, "");
  EXPECT_TRUE(done);
}

// Somebody may wait while his store is upgraded.
TEST_F(SchemaTest, WhoWaitedBeforeLinesWereKnownKeepsItsPlace) {
  Ticket ticket = make_ticket(1, {"/a", "/b"});
  ticket.upgrade = true;
  ticket.request.own().caller.whole_session = true;
  const Ticket other = make_ticket(2, {"/a"}, bob());
  {
    const auto store = place.open();
    EXPECT_TRUE(try_commit(
        *store,
        [&](Transaction& transaction) {
          transaction.put(ticket);
          transaction.put(other);
        },
        false, kWorkspace));
  }
  ASSERT_EQ(
      sql("CREATE TABLE before AS SELECT workspace, file_path, subtree, ticket_id FROM ticket_paths;"
          "DROP TABLE ticket_paths;"
          "CREATE TABLE ticket_paths (workspace TEXT NOT NULL, file_path TEXT NOT NULL, subtree INTEGER NOT "
          "NULL, ticket_id TEXT NOT NULL, PRIMARY KEY (workspace, file_path, ticket_id)) WITHOUT ROWID;"
          "INSERT INTO ticket_paths SELECT * FROM before; DROP TABLE before;"
          "DELETE FROM migrations WHERE version = 11; PRAGMA user_version = 10"),
      "");

  const auto store = place.open();

  look(*store, [&](View& view) {
    std::vector<InLine> line = view.line_at("/a");
    std::ranges::sort(line, {}, &InLine::ticket);
    EXPECT_EQ(line, (std::vector{in_short(ticket), in_short(other)}));
    EXPECT_EQ(view.line_at("/b"), std::vector{in_short(ticket)});
    EXPECT_EQ(view.tickets_at({"/b", false}), std::vector{ticket});
  });
}

TEST_F(SchemaTest, AFileOfTheSeedIsTakenOver) {
  make_seed_file(std::string(kSeedTables) + kSeedIndexes + kSeedMigrations + kSeedRows);

  expect_upgraded(*this);
}

TEST_F(SchemaTest, AFileOfTheSeedWithoutMigrationsIsTakenOver) {
  make_seed_file(std::string(kSeedTables) + kSeedIndexes + kSeedRows);

  expect_upgraded(*this);
}

TEST_F(SchemaTest, AFileOfTheSeedWithItsFirstTableOnlyIsTakenOver) {
  const std::string tables = kSeedTables;
  make_seed_file(tables.substr(0, tables.find("CREATE TABLE lease_history")));

  EXPECT_TRUE(place.open());

  EXPECT_EQ(sql("SELECT count(*) FROM migrations WHERE status = 'success'"),
            fmt::format("{}\n", sqlite::latest_version()));
}

TEST_F(SchemaTest, AStepThatFailsLeavesTheFileAsItWasAndCanBeTriedAgain) {
  make_seed_file(std::string(kSeedTables) + kSeedIndexes + kSeedMigrations + kSeedRows +
                 "CREATE TABLE tickets (mine)");
  const char* everything =
      "SELECT * FROM leases; SELECT * FROM lease_history; SELECT * FROM lease_configs; SELECT sql FROM "
      "sqlite_schema;"
      "SELECT * FROM migrations WHERE version < 5";
  const std::string before = sql(everything);

  EXPECT_ERROR(place.try_open(), Code::config_error, place.database(), "005_add_what_leases_need",
               "table tickets already exists", "Nothing of it was kept");

  EXPECT_EQ(sql(everything), before);
  EXPECT_EQ(sql("SELECT status, error_message LIKE '%table tickets already exists%' FROM migrations WHERE "
                "version = 5"),
            "failed|1\n");

  ASSERT_EQ(sql("DROP TABLE tickets"), "");
  expect_upgraded(*this);
  EXPECT_EQ(sql("SELECT status, error_message FROM migrations WHERE version = 5"), "success|NULL\n");
}

// No second try could help, so it is not `unavailable`.
TEST_F(SchemaTest, RowsThatCannotBeChangedAreAConfigurationError) {
  make_seed_file(std::string(kSeedTables) + kSeedMigrations + kSeedRows +
                 "CREATE TRIGGER no BEFORE UPDATE ON leases BEGIN SELECT raise(ABORT, 'hands off'); END");

  EXPECT_ERROR(place.try_open(), Code::config_error, "005_add_what_leases_need", "hands off");

  EXPECT_EQ(sql("SELECT count(*) FROM leases; SELECT status FROM migrations WHERE version = 5"),
            "6\nfailed\n");
}

TEST_F(SchemaTest, ADamagedFileIsCorruptAndNotToBeUpgraded) {
  make_seed_file(std::string(kSeedTables) + kSeedMigrations + kSeedRows);
  const int page = std::stoi(sql("SELECT rootpage FROM sqlite_schema WHERE name = 'lease_history'"));
  std::fstream file(place.database(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp((page - 1) * 4096);
  file << std::string(4096, 'g');
  file.close();

  EXPECT_ERROR(place.try_open(), Code::corrupt, place.database(), "lease doctor");
}

TEST_F(SchemaTest, AVersionBelowZeroIsNoVersion) {
  (void)place.open();
  ASSERT_EQ(sql("PRAGMA user_version = -2147483648"), "");

  EXPECT_ERROR(place.try_open(), Code::corrupt, "the version -2147483648", "lease doctor");
}

TEST_F(SchemaTest, AFileOfTheSeedWithAVersionBelowZeroIsNotOfTheSeed) {
  make_seed_file(
      std::string(kSeedTables) + kSeedMigrations +
      "DELETE FROM migrations; INSERT INTO migrations (version, name, applied_at) VALUES (-3, 'x', 1)");

  EXPECT_ERROR(place.try_open(), Code::config_error, place.database(), "some other program");
}

// One row with a time that cannot be must not use up the tokens.
TEST_F(SchemaTest, TokensOfTheSeedsLeasesAreNotAfterNow) {
  make_seed_file(std::string(kSeedTables) + kSeedMigrations +
                 "INSERT INTO leases VALUES ('a', '/a', 'x', 9223372036854775807, 9223372036854775807, 60,"
                 " 'active', 0, -1, -9223372036854775807), ('b', '/b', 'x', -5, 5, 60, 'active', 0, -1, 5)");

  const auto store = place.open();
  ASSERT_TRUE(store);

  EXPECT_EQ(sql("SELECT count(*) FROM leases WHERE token BETWEEN 0 AND unixepoch() * 1000000"), "2\n");
  commit(*store, [](Transaction& transaction) { EXPECT_LT(transaction.next_token().value, 1ULL << 53); });
}

TEST_F(SchemaTest, ATokenThatCannotBeIsCorruptOnlyForThoseWhoDrawOne) {
  const auto store = place.open();
  for (const char* last : {"-1", "9007199254740991", "9223372036854775807"}) {
    ASSERT_EQ(sql(fmt::format("UPDATE store SET last_token = {}", last)), "");

    const auto drawn = try_commit(*store, [](Transaction& transaction) { (void)transaction.next_token(); });
    const auto written =
        try_commit(*store, [](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });

    EXPECT_ERROR(drawn, Code::corrupt, std::string("the last token ") + last, "lease doctor");
    EXPECT_TRUE(written);
  }
}

TEST_F(SchemaTest, AnOlderFileOfOursIsUpgradedWhoeverOpensIt) {
  make_seed_file(std::string(kSeedTables) + kSeedIndexes + kSeedMigrations + kSeedRows +
                 fmt::format("PRAGMA user_version = 4; PRAGMA application_id = {}", sqlite::kApplicationId));

  expect_upgraded(*this);
}

TEST_F(SchemaTest, NoticesOfAFileThatFoundThemByIdAreStillTold) {
  const Notice notice = make_notice(1, make_lease(1, "/a"));
  commit(*place.open(), [&](Transaction& transaction) { transaction.put(notice); });
  ASSERT_EQ(sql("ALTER TABLE notices RENAME TO later;"
                "CREATE TABLE notices (id TEXT NOT NULL, workspace TEXT NOT NULL, agent_id TEXT NOT NULL,"
                " session_id TEXT NOT NULL, cause TEXT NOT NULL, received INTEGER NOT NULL, lease_id TEXT NOT"
                " NULL, file_path TEXT NOT NULL, token INTEGER NOT NULL, actor TEXT NOT NULL, reason TEXT NOT"
                " NULL, at_ns INTEGER NOT NULL, at_us INTEGER NOT NULL, drop_ns INTEGER NOT NULL,"
                " PRIMARY KEY (workspace, id)) WITHOUT ROWID;"
                "CREATE INDEX idx_notices_owner ON notices(workspace, agent_id, session_id);"
                "INSERT INTO notices SELECT id, 'here', agent_id, session_id, cause, received, lease_id,"
                " file_path, token, actor, reason, at_ns, at_us, drop_ns FROM later;"
                "CREATE INDEX idx_lease_history_age ON lease_history(workspace, event_us);"
                "DROP TABLE later; DROP INDEX idx_lease_history_workspace; DROP INDEX idx_leases_ended;"
                "ALTER TABLE leases DROP COLUMN durable;"
                "DROP TABLE workspaces; DELETE FROM migrations WHERE version > 6; PRAGMA user_version = 6"),
            "");

  look(*place.open(), [&](View& view) { EXPECT_EQ(view.notices(ann()), std::vector{notice}); });

  EXPECT_EQ(sql("PRAGMA user_version; SELECT count(*) FROM sqlite_schema WHERE name = 'idx_notices_owner'"),
            fmt::format("{}\n0\n", sqlite::latest_version()));
}

TEST_F(SchemaTest, WhoUsesAFileThatANewerVersionUpgradesIsTold) {
  const auto store = place.open();
  ASSERT_EQ(sql(fmt::format("PRAGMA user_version = {}", sqlite::latest_version() + 1)), "");

  const auto written =
      try_commit(*store, [](Transaction& transaction) { transaction.put(make_lease(1, "/a")); });
  const auto looked = store->view({.workspace = kWorkspace}, [](View&) -> Result<void> { return {}; });

  EXPECT_ERROR(written, Code::unavailable, place.database(), "Start this process again");
  EXPECT_ERROR(looked, Code::unavailable, place.database(), "Start this process again");
  EXPECT_EQ(sql("SELECT count(*) FROM leases"), "0\n");
}

// They keep their names, so that a large file is upgraded in the time that a hook has.
TEST_F(SchemaTest, WhatWorkspacesHadIsTheirsAfterTheUpgrade) {
  const auto lease_in = [](int i, const std::string& workspace) {
    Lease lease = make_lease(i, "/a");
    lease.workspace = workspace;
    return lease;
  };
  const auto put = [&](Store& store, int i, const std::string& workspace) {
    const auto done = try_commit(
        store, [&](Transaction& transaction) { transaction.put(lease_in(i, workspace)); }, false, workspace);
    ASSERT_TRUE(done) << testing::PrintToString(done.error());
  };
  put(*place.open(), 1, "old");
  put(*place.open(), 2, "older");
  ASSERT_EQ(
      sql("UPDATE leases SET workspace = (SELECT name FROM workspaces WHERE alias = workspace);"
          "UPDATE owners SET workspace = (SELECT name FROM workspaces WHERE alias = workspace);"
          "ALTER TABLE notices DROP COLUMN subtree; ALTER TABLE leases DROP COLUMN durable;"
          "DROP TABLE workspaces; DROP INDEX idx_leases_ended; DELETE FROM migrations WHERE version > 7;"
          "PRAGMA user_version = 7"),
      "");

  const auto store = place.open();
  put(*store, 3, "new");

  EXPECT_EQ(sql("SELECT name, alias FROM workspaces ORDER BY name"), "new|#3\nold|old\nolder|older\n");
  const auto expect = [&](const std::string& workspace, const std::vector<Lease>& leases) {
    look(*store, [&](View& view) { EXPECT_EQ(view.leases_at({.path = "/a"}), leases); }, workspace);
  };
  expect("old", {lease_in(1, "old")});
  expect("older", {lease_in(2, "older")});
  expect("new", {lease_in(3, "new")});
  expect("none", {});
  EXPECT_EQ(sql("SELECT count(*) FROM workspaces"), "3\n");
}

}  // namespace
}  // namespace leasehold
