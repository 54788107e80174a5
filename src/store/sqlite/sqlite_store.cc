#include "store/sqlite/sqlite_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "store/sqlite/bells.h"
#include "store/sqlite/boot.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/gate.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/spare.h"
#include "store/sqlite/store_folder.h"
#include "store/sqlite/transaction.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace sqlite;
using Clock = std::chrono::steady_clock;

// To be able to undo one call of a group, SQLite has to keep every page that it changes as it was, which is
// dear. Few fail after they wrote something; who did may do so again.
constexpr std::chrono::seconds kUndoesEachFor{1};

bool is_full(const Failure& failure) { return (failure.sqlite_code & 0xff) == SQLITE_FULL; }

// The connection saw its files fail; what it has in memory is not to be trusted.
bool is_fatal(const Failure& failure) {
  const int code = failure.sqlite_code & 0xff;
  return code == SQLITE_IOERR || code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

class SqliteStore final : public Store {
 public:
  SqliteStore(SqliteOptions options, const StoreClock& clock, std::unique_ptr<Gate> gate)
      : options_(std::move(options)),
        clock_(clock),
        gate_(std::move(gate)),
        bells_(options_.folder + "/" + kBellsName) {}

  // Makes the file ready: its schema, and its times.
  Result<void> start();

  Result<void> transact(const Footprint& footprint, const Body& body) override;
  Result<void> view(const Footprint& footprint, const Look& body) override;
  Result<void> together(const std::function<void()>& calls) override;
  Result<std::unique_ptr<Bell>> listen(const std::string&, const GroupId& ticket) override {
    return bells_.listen(ticket);
  }
  Result<std::vector<Defect>> examine(const std::string& workspace, bool repair) override;

 private:
  struct Opened {
    std::unique_ptr<Connection> connection;
    int version;
  };
  Result<Opened> connect() const;
  Result<Opened> try_connect(bool alone) const;  // Throws Failure.
  // A connection knows what it wrote, and reads anew what others did: so who writes gets the one that wrote
  // last, and who looks gets another, if there is one.
  enum class Use { look, write };
  Result<std::unique_ptr<Connection>> borrow(Use use);
  void give_back(std::unique_ptr<Connection> connection, Use use);
  Result<void> prepare(Connection& connection);

  // What one thread commits as one.
  struct Group {
    const SqliteStore* store;
    bool undoes_each;
    std::optional<Gate::Pass> pass = {};
    std::unique_ptr<Connection> connection = {};        // Null: nothing was begun yet.
    std::optional<SqliteTransaction> transaction = {};  // Of the workspace that was asked for last.
    std::vector<GroupId> bells = {};
    bool only_gives_back = true;
    std::optional<Failure> failure = {};  // Then none of it will be kept.
  };
  Group* group_here() const { return group_ != nullptr && group_->store == this ? group_ : nullptr; }
  Result<void> begin(Group& group);
  SqliteTransaction& transaction_in(Group& group, const std::string& workspace) const;
  static void finish(Group& group);
  Result<void> write_in(Group& group, const Footprint& footprint, const Body& body);
  Result<void> commit(Group& group);

  // Inside the gate. Returns the bells to ring.
  Result<std::vector<GroupId>> write(Connection& connection, const Footprint& footprint, const Body& body);

  void shorten_log();

  // On a full disk: true if it is worth trying once more.
  bool make_room(Connection& connection, bool gives_back, int tries) const;

  const SqliteOptions options_;
  const StoreClock& clock_;
  const std::unique_ptr<Gate> gate_;
  const Bells bells_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<Connection>> idle_;  // The last one wrote last.
  std::atomic<Clock::time_point> undoes_each_until_ = Clock::time_point::min();
  static thread_local Group* group_;
};

thread_local SqliteStore::Group* SqliteStore::group_ = nullptr;

// Whoever comes when nobody else is there has SQLite make its index of the log anew. Where the disk has no
// space for that, the index stays in memory; then nobody else may be let in, so not for longer than one call.
Result<SqliteStore::Opened> SqliteStore::connect() const {
  try {
    return try_connect(false);
  } catch (const Failure& failure) {
    if (failure.sqlite_code != SQLITE_IOERR_SHMSIZE) return fail(failure.error);
  }
  try {
    return try_connect(true);
  } catch (const Failure& failure) {
    return fail(failure.error);
  }
}

Result<SqliteStore::Opened> SqliteStore::try_connect(bool alone) const {
  auto connection = Connection::open(options_.folder + "/" + kDatabaseName, options_.vfs, alone);
  if (!connection) return fail(connection.error());
  // A power cut ends every process of this machine, and so every lease: the last commits may go with it. Not
  // so for those who serve other machines.
  (*connection)->execute("PRAGMA synchronous = NORMAL");
  if (options_.durable) (*connection)->make_durable();
  (*connection)
      ->execute(
          "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -64000; PRAGMA cache_spill = 32768;"
          "PRAGMA journal_size_limit = 67108864");
  const auto version = version_of(**connection);
  if (!version) return fail(version.error());
  if (!(*connection)->has_sound_log()) throw_corrupt("something else than a log in leases.db-wal");
  return Opened{std::move(*connection), *version};
}

Result<std::unique_ptr<Connection>> SqliteStore::borrow(Use use) {
  {
    const std::lock_guard lock(mutex_);
    while (!idle_.empty()) {
      auto connection = std::move(use == Use::write ? idle_.back() : idle_.front());
      if (use == Use::write) {
        idle_.pop_back();
      } else {
        idle_.pop_front();
      }
      // What is granted in a file without a name, nobody else knows of.
      if (!connection->has_moved()) return connection;
    }
  }
  auto opened = connect();
  if (!opened) return fail(opened.error());
  if (opened->version != latest_version() || !opened->connection->has_log()) {
    return fail(Code::unavailable,
                fmt::format("{}/{} was replaced while this process used it. Nothing was written. Start "
                            "this process again.",
                            options_.folder, kDatabaseName));
  }
  return std::move(opened->connection);
}

void SqliteStore::give_back(std::unique_ptr<Connection> connection, Use use) {
  if (connection->is_alone()) return;
  const std::lock_guard lock(mutex_);
  if (use == Use::write) {
    idle_.push_back(std::move(connection));
  } else {
    idle_.push_front(std::move(connection));
  }
}

Result<void> SqliteStore::start() {
  wait_at_most(options_.gate_timeout);
  auto opened = connect();
  if (!opened) return fail(opened.error());
  auto& [connection, version] = *opened;
  try {
    if (version != latest_version() || !connection->has_log() ||
        !is_current(*connection, {options_.machine_id, options_.boot_id})) {
      const auto pass = gate_->enter(options_.gate_timeout);
      if (!pass) return fail(pass.error());
      if (auto ready = prepare(*connection); !ready) return ready;
    }
  } catch (const Failure& failure) {
    return fail(failure.error);
  }
  give_back(std::move(connection), Use::write);
  return {};
}

// Somebody else may have done it while we waited for the gate.
Result<void> SqliteStore::prepare(Connection& connection) {
  const Rollback otherwise(connection);
  const auto version = version_of(connection);
  if (!version) return fail(version.error());
  connection.use_log();
  if (*version < latest_version()) {
    if (auto migrated = migrate(connection, *version, clock_); !migrated) return migrated;
  }
  if (auto entered = enter_boot(connection, {options_.machine_id, options_.boot_id}, clock_); !entered)
    return entered;
  // A young store would be all log, and look like an empty one without it.
  connection.empty_log();
  keep_spare(connection);
  fill_reserve(options_.folder);
  return {};
}

Result<std::vector<GroupId>> SqliteStore::write(Connection& connection, const Footprint& footprint,
                                                const Body& body) {
  if (!footprint.gives_back && is_short_of_space(options_.folder)) {
    throw Failure{full_disk(connection.path()), SQLITE_FULL};
  }
  const Rollback otherwise(connection);
  connection.query("BEGIN IMMEDIATE").run();
  SqliteTransaction transaction(connection, footprint.workspace, clock_);
  if (auto done = body(transaction); !done) return fail(done.error());
  std::vector<GroupId> bells = transaction.finish();
  if (!footprint.gives_back) connection.make_room();
  try {
    connection.commit();
  } catch (const Failure& failure) {
    if ((failure.sqlite_code & 0xff) != SQLITE_IOERR) throw;
    // The log may hold all of it, or not: whoever reads it next will know.
    throw Failure{
        {Code::outcome_unknown, failure.error.message + " Whether it was kept is not known: ask again."},
        failure.sqlite_code};
  }
  return bells;
}

bool SqliteStore::make_room(Connection& connection, bool gives_back, int tries) const {
  if (tries == 0) {
    // Our own log may be what fills the disk. Who gives back only needs it to begin anew.
    if (!gives_back) {
      shrink_log(connection);
    } else {
      connection.restart_log();
    }
    return true;
  }
  // Moving the log into the file may have failed because that must grow first.
  if (tries > 1 || !gives_back || !spend_reserve(options_.folder, connection)) return false;
  connection.restart_log();
  return true;
}

// Lets the caller ask again as if nothing had been, should it not be kept.
Result<void> SqliteStore::together(const std::function<void()>& calls) {
  Group group = {.store = this, .undoes_each = Clock::now() < undoes_each_until_.load()};
  group_ = &group;
  calls();
  group_ = nullptr;
  if (!group.connection) {
    // On a full disk it may help to ask one by one. Else whoever wrote nothing was told why.
    return group.failure && is_full(*group.failure) ? fail(group.failure->error) : Result<void>();
  }
  const bool log_is_long = group.connection->log_pages() > options_.log_pages_max;
  auto done = commit(group);
  if (!done) return done;
  if (!group.bells.empty()) std::this_thread::yield();
  if (log_is_long) shorten_log();
  return {};
}

Result<void> SqliteStore::begin(Group& group) {
  auto pass = gate_->enter(options_.gate_timeout);
  if (!pass) return fail(pass.error());
  wait_at_most(options_.gate_timeout);
  auto connection = borrow(Use::write);
  if (!connection) return fail(connection.error());
  (*connection)->query("BEGIN IMMEDIATE").run();
  group.pass.emplace(std::move(*pass));
  group.connection = std::move(*connection);
  return {};
}

// All calls in a group for one workspace share a transaction: what each would read first is known already.
SqliteTransaction& SqliteStore::transaction_in(Group& group, const std::string& workspace) const {
  if (group.transaction && (group.transaction->workspace() != workspace || group.transaction->is_large()))
    finish(group);
  if (!group.transaction) group.transaction.emplace(*group.connection, workspace, clock_);
  return *group.transaction;
}

void SqliteStore::finish(Group& group) {
  if (!group.transaction) return;
  std::ranges::move(group.transaction->finish(), std::back_inserter(group.bells));
  group.transaction.reset();
}

Result<void> SqliteStore::write_in(Group& group, const Footprint& footprint, const Body& body) {
  if (group.failure) return fail(group.failure->error);
  try {
    if (!footprint.gives_back && group.only_gives_back && is_short_of_space(options_.folder))
      throw Failure{full_disk(options_.folder), SQLITE_FULL};
    if (!group.connection) {
      if (auto begun = begin(group); !begun) throw Failure{begun.error()};
    }
    if (group.undoes_each) group.connection->query("SAVEPOINT one").run();
    SqliteTransaction& transaction = transaction_in(group, footprint.workspace);
    const std::int64_t before = transaction.changes();
    auto done = body(transaction);
    if (done) group.only_gives_back &= footprint.gives_back;
    if (group.undoes_each) {
      if (done) {
        finish(group);
      } else {
        group.transaction.reset();
        group.connection->query("ROLLBACK TO one").run();
      }
      group.connection->query("RELEASE one").run();
    } else if (!done && transaction.changes() != before) {
      undoes_each_until_ = Clock::now() + kUndoesEachFor;
      throw Failure{{Code::transaction_conflict, "A call failed after it wrote something."}};
    }
    return done;
  } catch (const Failure& failure) {
    group.failure = failure;
    return fail(failure.error);
  }
}

Result<void> SqliteStore::commit(Group& group) {
  {
    const Rollback otherwise(*group.connection);
    bool is_committing = false;
    try {
      if (group.failure) throw *group.failure;
      finish(group);
      if (!group.only_gives_back) group.connection->make_room();
      is_committing = true;
      group.connection->commit();
    } catch (const Failure& failure) {
      if (is_committing && (failure.sqlite_code & 0xff) == SQLITE_IOERR)
        return fail(Code::outcome_unknown,
                    failure.error.message + " Whether it was kept is not known: ask again.");
      group.failure = failure;
    }
  }
  if (group.failure) {
    if (!is_fatal(*group.failure)) give_back(std::move(group.connection), Use::write);
    return fail(group.failure->error);
  }
  for (const GroupId& ticket : group.bells) bells_.ring(ticket);
  if (!group.only_gives_back) keep_spare(*group.connection);
  give_back(std::move(group.connection), Use::write);
  group.pass.reset();
  return {};
}

Result<void> SqliteStore::transact(const Footprint& footprint, const Body& body) {
  if (Group* group = group_here()) return write_in(*group, footprint, body);
  Result<std::vector<GroupId>> bells;
  bool log_is_long = false;
  {
    const auto pass = gate_->enter(options_.gate_timeout);
    if (!pass) return fail(pass.error());
    wait_at_most(options_.gate_timeout);
    auto connection = borrow(Use::write);
    if (!connection) return fail(connection.error());
    bool was_full = false;
    for (int tries = 0;; ++tries) {
      try {
        bells = write(**connection, footprint, body);
      } catch (const Failure& failure) {
        bells = fail(failure.error);
        was_full |= is_full(failure);
        if (is_full(failure) && make_room(**connection, footprint.gives_back, tries)) continue;
        if (is_fatal(failure)) return fail(failure.error);
        if (is_full(failure) && !footprint.gives_back) {
          bells = fail(Code::unavailable, failure.error.message + " lease release works meanwhile.");
        }
      }
      break;
    }
    // Whom they wake only looks, and so needs no gate.
    if (bells) {
      for (const GroupId& ticket : *bells) bells_.ring(ticket);
    }
    if (was_full && footprint.gives_back) {
      // What is left is kept back again before others take it for new leases.
      (*connection)->restart_log();
      fill_reserve(options_.folder);
    }
    if (bells && !footprint.gives_back) keep_spare(**connection);
    log_is_long = (*connection)->log_pages() > options_.log_pages_max;
    give_back(std::move(*connection), Use::write);
  }
  if (!bells) return fail(bells.error());
  // The kernel puts whom a pipe wakes on the waker's core, and there behind the waker.
  if (!bells->empty()) std::this_thread::yield();
  if (log_is_long) shorten_log();
  return {};
}

// What was asked is done already: whoever comes next tries again if this cannot be.
void SqliteStore::shorten_log() {
  const auto pass = gate_->enter(options_.gate_timeout);
  if (!pass) return;
  auto connection = borrow(Use::write);
  if (!connection) return;
  if (options_.empties_log) {
    (*connection)->empty_log();
  } else {
    (*connection)->checkpoint();
  }
  keep_spare(**connection);
  fill_reserve(options_.folder);
  bells_.clear();
  give_back(std::move(*connection), Use::write);
}

Result<void> SqliteStore::view(const Footprint& footprint, const Look& body) {
  if (Group* group = group_here(); group != nullptr && group->connection && !group->failure) {
    // What was written in this group is seen only there.
    try {
      return body(transaction_in(*group, footprint.workspace));
    } catch (const Failure& failure) {
      group->failure = failure;
      return fail(failure.error);
    }
  }
  wait_at_most(options_.gate_timeout);
  auto connection = borrow(Use::look);
  if (!connection) return fail(connection.error());
  try {
    Result<void> done;
    {
      const Rollback otherwise(**connection);
      (*connection)->query("BEGIN").run();
      SqliteTransaction transaction(**connection, footprint.workspace, clock_, false);
      done = body(transaction);
      (*connection)->query("COMMIT").run();
    }
    // Only now: from here on it is another thread's.
    give_back(std::move(*connection), Use::look);
    return done;
  } catch (const Failure& failure) {
    return fail(failure.error);
  }
}

// What SQLite itself finds wrong with the file, whichever workspace it concerns. Only a copy repairs that.
Result<std::vector<Defect>> SqliteStore::examine(const std::string&, bool) {
  auto connection = borrow(Use::look);
  if (!connection) return fail(connection.error());
  try {
    std::vector<Defect> defects;
    {
      Query rows = (*connection)->query("PRAGMA quick_check(20)");
      while (rows.step()) {
        const std::string_view found = rows.text();
        if (found == "ok") break;
        // 3.40.0 to 3.41.0 say so of tables WITHOUT ROWID whose key leaves a column out in the middle.
        if (found.starts_with("NULL value in ") && sqlite3_libversion_number() <= 3'041'000) continue;
        defects.push_back({options_.folder, fmt::format("{}. Restore it from a backup, or delete it when "
                                                        "nobody works here",
                                                        in_sentence(found))});
      }
    }
    give_back(std::move(*connection), Use::look);
    return defects;
  } catch (const Failure& failure) {
    return fail(failure.error);
  }
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const SqliteOptions& options, const StoreClock& clock) {
  const auto type_of = options.file_system_type != nullptr ? options.file_system_type : file_system_type;
  if (auto prepared = prepare_folder(options.folder, type_of); !prepared) return fail(prepared.error());
  auto gate = Gate::open(options.folder + "/" + kGateName);
  if (!gate) return fail(gate.error());
  auto store = std::make_unique<SqliteStore>(options, clock, std::move(*gate));
  if (auto started = store->start(); !started) return fail(started.error());
  return store;
}

}  // namespace leasehold
