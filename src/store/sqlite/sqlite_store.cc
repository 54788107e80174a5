#include "store/sqlite/sqlite_store.h"

#include <mutex>
#include <thread>
#include <vector>

#include "store/sqlite/bells.h"
#include "store/sqlite/boot.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/gate.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/store_folder.h"
#include "store/sqlite/transaction.h"

namespace leasehold {
namespace {

using namespace sqlite;

// Ends what was begun, unless it was ended already.
class Rollback {
 public:
  explicit Rollback(Connection& connection) : connection_(connection) {}
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;
  ~Rollback() {
    if (sqlite3_get_autocommit(connection_.handle()) != 0) return;
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }

 private:
  Connection& connection_;
};

bool is_full(const Failure& failure) { return (failure.sqlite_code & 0xff) == SQLITE_FULL; }

// The connection saw its files fail; what it has in memory is not to be trusted.
bool is_fatal(const Failure& failure) {
  const int code = failure.sqlite_code & 0xff;
  return code == SQLITE_IOERR || code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

class SqliteStore final : public Store {
 public:
  SqliteStore(SqliteOptions options, const StoreClock& clock, std::unique_ptr<Gate> gate)
      : options_(std::move(options)), clock_(clock), gate_(std::move(gate)) {}

  // Makes the file ready: its schema, and its times.
  Result<void> start();

  Result<void> transact(const Footprint& footprint, const Body& body) override;
  Result<void> view(const Footprint& footprint, const Look& body) override;
  Result<std::unique_ptr<Bell>> listen(const GroupId& ticket) override {
    return listen_in(bells_folder(), ticket);
  }

 private:
  std::string bells_folder() const { return options_.folder + "/" + kBellsName; }

  Result<std::unique_ptr<Connection>> connect() const;
  Result<std::unique_ptr<Connection>> borrow();
  void give_back(std::unique_ptr<Connection> connection);
  Result<void> prepare(Connection& connection);

  // Inside the gate. Returns the bells to ring.
  Result<std::vector<GroupId>> write(Connection& connection, const Footprint& footprint, const Body& body);

  void shorten_log();

  // On a full disk: true if it is worth trying once more.
  bool make_room(Connection& connection, const Footprint& footprint, int tries) const;

  const SqliteOptions options_;
  const StoreClock& clock_;
  const std::unique_ptr<Gate> gate_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

Result<std::unique_ptr<Connection>> SqliteStore::connect() const {
  auto connection = Connection::open(options_.folder + "/" + kDatabaseName, options_.vfs);
  if (!connection) return connection;
  try {
    // A power cut ends every process of this machine, and so every lease: the last commits may go with it.
    (*connection)
        ->execute(
            "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000;"
            "PRAGMA journal_size_limit = 67108864");
  } catch (const Failure& failure) {
    return fail(failure.error);
  }
  return connection;
}

Result<std::unique_ptr<Connection>> SqliteStore::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return connect();
}

void SqliteStore::give_back(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(connection));
}

Result<void> SqliteStore::start() {
  auto connection = connect();
  if (!connection) return fail(connection.error());
  const Boot boot = {options_.machine_id, options_.boot_id};
  try {
    const auto version = version_of(**connection);
    if (!version) return fail(version.error());
    if (*version != latest_version() || !is_current(**connection, boot)) {
      const auto pass = gate_->enter(options_.gate_timeout);
      if (!pass) return fail(pass.error());
      if (auto ready = prepare(**connection); !ready) return ready;
    }
  } catch (const Failure& failure) {
    return fail(failure.error);
  }
  give_back(std::move(*connection));
  return {};
}

// Somebody else may have done it while we waited for the gate.
Result<void> SqliteStore::prepare(Connection& connection) {
  const Rollback otherwise(connection);
  const auto version = version_of(connection);
  if (!version) return fail(version.error());
  if (*version < latest_version()) {
    connection.execute("PRAGMA journal_mode = WAL");
    if (auto migrated = migrate(connection, *version, clock_); !migrated) return migrated;
  }
  fill_reserve(options_.folder);
  return enter_boot(connection, {options_.machine_id, options_.boot_id}, clock_);
}

Result<std::vector<GroupId>> SqliteStore::write(Connection& connection, const Footprint& footprint,
                                                const Body& body) {
  const Rollback otherwise(connection);
  connection.query("BEGIN IMMEDIATE").run();
  SqliteTransaction transaction(connection, footprint.workspace, clock_);
  if (auto done = body(transaction); !done) return fail(done.error());
  std::vector<GroupId> bells = transaction.finish();
  try {
    connection.query("COMMIT").run();
  } catch (const Failure& failure) {
    if ((failure.sqlite_code & 0xff) != SQLITE_IOERR) throw;
    // The log may hold all of it, or not: whoever reads it next will know.
    throw Failure{
        {Code::outcome_unknown, failure.error.message + " Whether it was kept is not known: ask again."},
        failure.sqlite_code};
  }
  return bells;
}

bool SqliteStore::make_room(Connection& connection, const Footprint& footprint, int tries) const {
  if (tries == 0) {
    // Our own log may be what fills the disk, and moving it into the file may take some space first.
    if (!connection.empty_log() && spend_reserve(options_.folder)) {
      connection.empty_log();
      fill_reserve(options_.folder);
    }
    return true;
  }
  // Whoever gives back may use what was kept for that.
  return tries == 1 && footprint.gives_back && spend_reserve(options_.folder);
}

Result<void> SqliteStore::transact(const Footprint& footprint, const Body& body) {
  Result<std::vector<GroupId>> bells;
  bool log_is_long = false;
  {
    const auto pass = gate_->enter(options_.gate_timeout);
    if (!pass) return fail(pass.error());
    auto connection = borrow();
    if (!connection) return fail(connection.error());
    bool was_full = false;
    for (int tries = 0;; ++tries) {
      try {
        bells = write(**connection, footprint, body);
      } catch (const Failure& failure) {
        bells = fail(failure.error);
        was_full |= is_full(failure);
        if (is_full(failure) && make_room(**connection, footprint, tries)) continue;
        if (is_fatal(failure)) return fail(failure.error);
      }
      break;
    }
    // Whom they wake only looks, and so needs no gate.
    if (bells) {
      for (const GroupId& ticket : *bells) ring_in(bells_folder(), ticket);
    }
    if (was_full) {
      // What is left is kept back again before others take it for new leases.
      (*connection)->empty_log();
      fill_reserve(options_.folder);
    }
    log_is_long = (*connection)->log_pages() > options_.log_pages_max;
    give_back(std::move(*connection));
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
  auto connection = borrow();
  if (!connection) return;
  if (options_.empties_log) {
    (*connection)->empty_log();
  } else {
    (*connection)->checkpoint();
  }
  fill_reserve(options_.folder);
  clear_in(bells_folder());
  give_back(std::move(*connection));
}

Result<void> SqliteStore::view(const Footprint& footprint, const Look& body) {
  auto connection = borrow();
  if (!connection) return fail(connection.error());
  try {
    Result<void> done;
    {
      const Rollback otherwise(**connection);
      (*connection)->query("BEGIN").run();
      SqliteTransaction transaction(**connection, footprint.workspace, clock_);
      done = body(transaction);
      (*connection)->query("COMMIT").run();
    }
    // Only now: from here on it is another thread's.
    give_back(std::move(*connection));
    return done;
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
