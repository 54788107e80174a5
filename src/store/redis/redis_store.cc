#include "store/redis/redis_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "store/backoff.h"
#include "store/redis/bells.h"
#include "store/redis/examiner.h"
#include "store/redis/pool.h"
#include "store/redis/server_checks.h"
#include "store/redis/transaction.h"

namespace leasehold {
namespace {

using namespace redis;
using namespace std::chrono_literals;

// A directory that so many runs were disturbed below is announced, so that others hold back.
constexpr int kRunsBeforeIntent = 2;

// How often all keys are looked at until nobody changes any of them meanwhile.
constexpr int kExaminationsMax = 10;

class RedisStore final : public Store {
 public:
  RedisStore(Address address, RedisOptions options)
      : pool_(std::move(address), options.connect_timeout, options.command_timeout),
        bells_(std::make_shared<Bells>(pool_, shared_.rings, options.command_timeout)) {
    shared_.options = std::move(options);
  }
  RedisStore(const RedisStore&) = delete;
  RedisStore& operator=(const RedisStore&) = delete;
  // Bells that somebody still holds must not use the pool any more.
  ~RedisStore() override { bells_->stop(); }

  Result<void> start();

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    return repeat(footprint, true, [&](RedisTransaction& transaction) { return body(transaction); });
  }
  Result<void> view(const Footprint& footprint, const Look& body) override {
    return repeat(footprint, false, [&](RedisTransaction& transaction) { return body(transaction); });
  }
  Result<std::unique_ptr<Bell>> listen(const std::string&, const GroupId& ticket) override {
    return bells_->listen(ticket);
  }
  Result<std::vector<Defect>> examine(const std::string& workspace, bool repair) override;

 private:
  // How one run ended.
  enum class Run { done, disturbed, held_back, stale_connection, made_room };

  Keys keys_of(const std::string& workspace) const {
    return shared_.options.name_space ? Keys::of_namespace(*shared_.options.name_space)
                                      : Keys::of_workspace(workspace);
  }

  bool change_spare(bool change(Connection&));
  template <class Call>
  Result<void> repeat(const Footprint& footprint, bool writes, const Call& call);
  template <class Call>
  Result<Run> run_once(const Footprint& footprint, const Keys& keys, bool writes, Leftover& leftover,
                       const Call& call);

  Pool pool_;
  Shared shared_;
  std::shared_ptr<Bells> bells_;
  Backoff backoff_;
  std::int64_t client_id_ = 0;
  std::atomic<bool> spare_is_gone_ = false;
};

Result<void> RedisStore::start() {
  auto connection = pool_.borrow();
  if (!connection) return fail(connection.error());
  client_id_ = (*connection)->client_id();
  backoff_.seed(static_cast<unsigned>(client_id_));
  const auto warnings = check_server(**connection);
  if (!warnings) return fail(warnings.error());
  if (shared_.options.on_warning) {
    for (const std::string& warning : *warnings) shared_.options.on_warning(warning);
  }
  pool_.give_back(std::move(*connection));
  return {};
}

// On a connection of its own: what it is done for has its result already.
bool RedisStore::change_spare(bool change(Connection&)) {
  auto connection = pool_.borrow();
  if (!connection) return false;
  try {
    const bool done = change(**connection);
    pool_.give_back(std::move(*connection));
    return done;
  } catch (const Failure&) {
    return false;
  }
}

template <class Call>
Result<RedisStore::Run> RedisStore::run_once(const Footprint& footprint, const Keys& keys, bool writes,
                                             Leftover& leftover, const Call& call) {
  auto connection = pool_.borrow();
  if (!connection) return fail(connection.error());
  const bool was_idle = (*connection)->was_used;
  // Unless it is lost, it is given back, whatever the body does.
  struct Return {
    Pool& pool;
    std::unique_ptr<Connection> connection;
    ~Return() {
      if (connection) pool.give_back(std::move(connection));
    }
  } held{pool_, std::move(*connection)};

  bool began = false;
  try {
    RedisTransaction transaction(*held.connection, shared_, keys, writes, leftover);
    transaction.begin(footprint);
    began = true;
    if (auto done = call(transaction); !done) {
      if (!transaction.is_of_one_moment()) return Run::disturbed;
      return fail(done.error());
    }
    if (writes && !transaction.commit()) return Run::disturbed;
    if (!writes) transaction.note_granted(shared_.hints, footprint.tickets);
    return Run::done;
  } catch (const Conflict& conflict) {
    return conflict.held_back ? Run::held_back : Run::disturbed;
  } catch (const Failure& failure) {
    if (failure.lost_connection) {
      held.connection.reset();
      pool_.drop_idle();
      if (was_idle && !began && failure.was_closed) return Run::stale_connection;
    }
    if (failure.memory_is_full && footprint.gives_back && change_spare(drop_spare)) {
      spare_is_gone_ = true;
      return Run::made_room;
    }
    return fail(failure.error);
  }
}

template <class Call>
Result<void> RedisStore::repeat(const Footprint& footprint, bool writes, const Call& call) {
  const Keys keys = keys_of(footprint.workspace);
  Leftover leftover;
  if (!writes && footprint.tickets.size() == 1) leftover.ring = shared_.rings.take(footprint.tickets.front());
  bool was_stale = false;
  const auto patient_until = std::chrono::steady_clock::now() + shared_.options.command_timeout;
  for (int conflicts = 0; conflicts < shared_.options.attempts_max;) {
    const auto run = run_once(footprint, keys, writes, leftover, call);
    if (!run) return fail(run.error());
    if (*run == Run::done) {
      if (spare_is_gone_ && change_spare(keep_spare)) spare_is_gone_ = false;
      return {};
    }
    if (*run == Run::stale_connection && !was_stale) {
      // The server was restarted, or dropped what idled: a new connection tells.
      was_stale = true;
      continue;
    }
    // Who announced itself is done soon; it is no sign of trouble to wait for that.
    if (*run == Run::held_back && std::chrono::steady_clock::now() < patient_until) {
      std::this_thread::sleep_for(Backoff::kLongest);
      continue;
    }
    ++conflicts;
    if (writes && conflicts >= kRunsBeforeIntent && !leftover.below.empty())
      leftover.intent = fmt::format("{} {}", client_id_, leftover.below);
    backoff_.pause(conflicts);
  }
  return fail(
      Code::transaction_conflict,
      fmt::format(
          "Others changed the same leases in Redis at {} each of the {} times this was tried. Nothing "
          "was written. Ask again.",
          pool_.address().shown(), shared_.options.attempts_max));
}

// Looks until nobody disturbs it. If somebody always does, what it saw each time is there.
Result<std::vector<Defect>> RedisStore::examine(const std::string& workspace, bool repair) {
  const Keys keys = keys_of(workspace);
  auto connection = pool_.borrow();
  if (!connection) return fail(connection.error());
  std::vector<Defect> always;
  const SeenUntilNow seen(shared_.server_time);
  try {
    for (int run = 1; run <= kExaminationsMax; ++run) {
      Examiner examiner(**connection, keys, shared_.options.clock);
      if (repair && run > kRunsBeforeIntent) examiner.announce();
      std::vector<Defect> defects = examiner.examine(repair);
      const bool is_done = defects.empty() || examiner.finish(repair);
      if (!is_done && run > 1) {
        std::erase_if(defects, [&](const Defect& defect) {
          return std::ranges::none_of(always, [&](const Defect& earlier) {
            return earlier.where == defect.where && earlier.what == defect.what;
          });
        });
      }
      always = std::move(defects);
      if (!repair || !is_done) {
        for (Defect& defect : always) defect.repaired = false;
      }
      if (is_done || always.empty()) break;
      backoff_.pause(run);
    }
  } catch (const Failure& failure) {
    if (!failure.lost_connection) pool_.give_back(std::move(*connection));
    return fail(failure.error);
  }
  pool_.give_back(std::move(*connection));
  // What was believed of keys may have changed with them.
  const std::lock_guard lock(shared_.mutex);
  shared_.proven.clear();
  return always;
}

}  // namespace

Result<std::unique_ptr<Store>> open_redis_store(std::string_view url, const RedisOptions& options) {
  auto address = parse_url(url);
  if (!address) return fail(address.error());
  RedisOptions all = options;
  all.connect_timeout = address->connect_timeout.value_or(options.connect_timeout);
  all.command_timeout = address->command_timeout.value_or(options.command_timeout);
  if (address->name_space) all.name_space = address->name_space;
  auto store = std::make_unique<RedisStore>(std::move(*address), std::move(all));
  if (auto started = store->start(); !started) return fail(started.error());
  return store;
}

}  // namespace leasehold
