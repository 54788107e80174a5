// What a call does must not grow with what others have in the store: SQLite, left to itself, chooses poorly
// among indexes. Counted in steps of its machine, which are the same each time.
#include <fmt/format.h>
#include <sqlite3.h>

#include "support/sqlite_place.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// The steps of every statement of every connection of this process.
std::int64_t steps = 0;

int count(unsigned, void*, void* statement, void*) {
  steps += sqlite3_stmt_status(static_cast<sqlite3_stmt*>(statement), SQLITE_STMTSTATUS_VM_STEP, 1);
  return 0;
}

int watch(sqlite3* connection, char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(connection, SQLITE_TRACE_PROFILE, count, nullptr);
}

class Work : public testing::Test {
 protected:
  static void SetUpTestSuite() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch)); }
  static void TearDownTestSuite() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(watch)); }

  // What Bob does and has, for Ann to be kept from.
  void add_others(int from, int to) {
    commit(*store, [&](Transaction& transaction) {
      for (int i = from; i < to; ++i) {
        const Lease lease = make_lease(i, fmt::format("/others/{}", i), bob());
        transaction.put(lease);
        Lease ended = make_lease(10'000 + i, "/mine/file", bob());
        ended.status = Status::released;
        transaction.put(ended);
        // Ann elsewhere.
        transaction.put(make_lease(20'000 + i, fmt::format("/elsewhere/{}", i), {ann().agent_id, "later"}));
        transaction.append(make_event(lease));
        transaction.put(make_notice(i, lease));
        transaction.put(make_answer(fmt::format("key {}", i), {lease}));
        transaction.put(make_contention(bob(), lease.path, lease));
        transaction.put(make_ticket(i, {lease.path + ".more"}));
      }
    });
  }

  std::int64_t steps_of(const std::function<void(Transaction&)>& call) {
    commit(*store, call);  // Once before, so that what a connection learns at first is not counted.
    steps = 0;
    commit(*store, call);
    return steps;
  }

  SqlitePlace place;
  std::unique_ptr<Store> store = place.open();
};

TEST_F(Work, DoesNotGrowWithWhatOthersHave) {
  const Lease mine = make_lease(0, "/mine/file");
  commit(*store, [&](Transaction& transaction) { transaction.put(mine); });
  const struct {
    const char* what;
    std::function<void(Transaction&)> call;
  } calls[] = {
      {"notices", [](Transaction& t) { t.notices(ann()); }},
      {"the last events", [](Transaction& t) { t.history({.limit = 5}); }},
      {"the first events", [](Transaction& t) { t.history({.limit = 5, .oldest = true}); }},
      {"events of a path", [](Transaction& t) { t.history({.path = "/others/7", .limit = 5}); }},
      {"a lease", [&](Transaction& t) { t.lease(mine.id); }},
      {"an owner's leases",
       [](Transaction& t) { t.leases({.agent_id = ann().agent_id, .session_id = ann().session_id}); }},
      {"leases at a path", [](Transaction& t) { t.leases_at({.path = "/mine/file"}); }},
      {"leases in a folder", [](Transaction& t) { t.leases_at({.path = "/mine", .subtree = true}); }},
      {"tickets at a path", [](Transaction& t) { t.tickets_at({.path = "/mine/file"}); }},
      {"the last lease", [](Transaction& t) { t.last_lease(ann(), "/mine/file"); }},
      {"a session's last lease", [](Transaction& t) { t.last_lease_in(ann().session_id, "/mine/file"); }},
      {"a count", [](Transaction& t) { t.lease_count(ann()); }},
      {"an answer", [](Transaction& t) { t.answer(ann(), "key 1"); }},
      {"a contention", [](Transaction& t) { t.contention(ann(), "/others/7"); }},
      {"what is due", [](Transaction& t) { t.due(t.now(), 5); }},
      {"a renewal", [&](Transaction& t) { t.extend(mine); }},
      {"an event", [&](Transaction& t) { t.append(make_event(mine)); }},
      {"a notice taken", [&](Transaction& t) {
         t.put(make_notice(9'999, mine));
         t.erase(make_notice(9'999, mine));
       }}};
  add_others(10, 40);
  std::vector<std::int64_t> among_few;
  for (const auto& [what, call] : calls) among_few.push_back(steps_of(call));

  add_others(40, 2'000);

  for (std::size_t i = 0; i < std::size(calls); ++i) {
    EXPECT_GT(among_few[i], 0) << calls[i].what;
    EXPECT_LE(steps_of(calls[i].call), among_few[i] + 20) << calls[i].what;
  }
}

TEST_F(Work, ForEventsSinceAMomentDoesNotGrowWithAllBefore) {
  Event event = make_event(make_lease(0, "/mine/file"));
  const WallTime moment = event.wall + 1h;
  const auto add = [&](int before, int since) {
    commit(*store, [&](Transaction& transaction) {
      for (event.wall = moment - 1s; before > 0; --before) transaction.append(event);
      for (event.wall = moment; since > 0; --since) transaction.append(event);
    });
  };
  const auto expect_since = [&](std::size_t count) {
    steps = 0;
    look(*store, [&](View& view) { EXPECT_EQ(view.history({.since = moment}).size(), count); });
    return steps;
  };
  add(0, 2);
  add(9'000, 1);
  expect_since(3);  // Though a clock was wrong meanwhile.
  add(10'000, 1);
  const std::int64_t among_few = expect_since(1);

  add(10'000, 1);

  EXPECT_LE(expect_since(1), among_few + 100);
}

TEST_F(Work, DoesNotGrowWithTheHistoryOfOtherWorkspaces) {
  const auto look_around = [&] {
    steps = 0;
    look(*store, [](View& view) { EXPECT_TRUE(view.history({}).empty()); }, "quiet");
    return steps;
  };
  add_others(10, 40);
  look_around();
  const std::int64_t among_few = look_around();
  EXPECT_GT(among_few, 0);

  add_others(40, 2'000);

  EXPECT_LE(look_around(), among_few + 20);
}

}  // namespace
}  // namespace leasehold
