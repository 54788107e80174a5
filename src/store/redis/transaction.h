// One body's view of Redis and what it wants to change.
//
// Everything is read into tables in memory, once, and from then on watched. What one round trip reads is of
// one moment (or, in glance(), in pieces whose order does not matter). If the body asks for more, the new
// keys are watched and read as well, and the server says whether any key watched so far has changed
// meanwhile: then the body ends and runs again. So a body never sees half of another's writes, even one that
// is going to be thrown away. At the end the differences are written by MULTI/EXEC.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/hints.h"
#include "store/json/rings.h"
#include "store/memory/loaded_transaction.h"
#include "store/redis/connection.h"
#include "store/redis/keys.h"
#include "store/redis/redis_store.h"
#include "store/redis/round.h"
#include "store/redis/server_time.h"
#include "store/store.h"

namespace leasehold::redis {

// What transactions of one store share.
struct Shared {
  RedisOptions options;
  Hints hints;
  Rings rings;
  ServerTime server_time;

  // Keys that are only ever written, and were found to be of the right type (or absent) once.
  std::mutex mutex;
  std::unordered_set<std::string> proven;

  // Whether there was nothing but documents to read, the last time: a guess of what is worth asking first.
  std::atomic<bool> is_calm = true;
  // Whether somebody had or wanted a directory then: the same.
  std::atomic<bool> has_directories = false;
};

// What one run of a body leaves for the next one.
struct Leftover {
  std::vector<LeaseId> leases;   // Ids that a body uses without reading them, and that exist.
  std::vector<GroupId> tickets;  // The same.
  std::string below;             // A directory it looked below, which every request there disturbs.
  std::string intent;            // Not empty: announced, so that others hold back for a moment.
  std::optional<Ring> ring;  // The bell of the ticket that is looked for has just rung: what came with it.
};

struct Commands;

// Tokens cost nothing but numbers: microseconds are a floor for them, and few bodies draw more than one.
inline constexpr int kTokensAtFirst = 4;

template <class Record>
struct Known : KnownRecord<Record> {
  bool is_protected = false;  // Any change of it in Redis will be noticed.
};

// Reads throw Failure or Conflict. Every record read or written belongs to one workspace.
class RedisTransaction final
    : public LoadedTransaction<RedisTransaction, Keys, Round, Known<Lease>, Known<Ticket>> {
  friend LoadedTransaction;

 public:
  RedisTransaction(Connection& connection, Shared& shared, const Keys& keys, bool writes, Leftover& leftover)
      : LoadedTransaction(keys, writes), connection_(connection), shared_(shared), leftover_(leftover) {}
  RedisTransaction(const RedisTransaction&) = delete;
  RedisTransaction& operator=(const RedisTransaction&) = delete;
  ~RedisTransaction() override {
    if (began_) shared_.server_time.note_seen();
  }

  // Reads the footprint. Throws.
  void begin(const Footprint& footprint);

  // False: something changed that was read; nothing was written. Throws Failure: outcome_unknown if the
  // server may have done it.
  bool commit();

  // False: others changed something while it was read, so that a refusal may rest on what never was. A commit
  // finds that out by itself.
  bool is_of_one_moment();

  std::vector<Lease> leases(const Filter& filter) override;
  std::vector<Ticket> tickets(const Filter& filter) override;
  std::size_t lease_count(const Owner& owner) override;
  std::vector<Notice> notices(const Owner& owner) override;
  std::optional<Answer> answer(const Owner& owner, const std::string& key) override;
  std::optional<Contention> contention(const Owner& owner, const std::string& path) override;
  std::vector<Contention> contentions(const Filter& filter) override;
  std::optional<RateWindow> rate_window(const std::string& session_id) override;
  SessionPaths session_paths(const std::string& session_id) override;
  Due due(Time moment, std::size_t limit) override;
  std::vector<Event> history(const HistoryQuery& query) override;

  Token next_token() override;
  using LoadedTransaction::put;
  void put(const Answer& answer) override;
  void put(const Notice& notice) override;
  void erase(const Notice& notice) override;
  void put(const Contention& contention) override;
  void erase(const Contention& contention) override;
  void put(const RateWindow& window) override;
  void put(const SessionPath& path) override;
  void erase(const SessionPath& path) override;
  std::size_t forget(Time ended_before, WallTime history_before, std::size_t limit) override;

 private:
  // round.cc
  void run(Round& round);
  void watch(const Round& round, bool first);
  std::vector<std::string> words_of(const Round& round) const;
  void split(Round& round);
  std::vector<Reply> ask(const std::function<void()>& add);
  void must_be_answered(const Reply& reply) const;
  void ask_clock(const Round& round);
  void learn_clock(const Round& round, ReplyView answer, bool first);
  void set_time(std::chrono::microseconds server_time);
  bool may_find_none(const Round& round) const;
  void ask_glance(const Round& round);
  bool glance(Round& round);
  void learn_above(std::int64_t answer);
  void learn(const Round& round, ReplyView answer);
  static bool is_disturbed(ReplyView client_info);

  std::string owner_key(const Owner& owner) const { return keys_.owner(owner); }
  bool knows_notices(const Owner& owner) const { return loaded_.contains(keys_.notices(owner)); }

  // load.cc
  bool learn_key(Round& round, std::string key, bool watch = true);
  void want_path(Round& round, const std::string& path);
  void want_scope(Round& round, const Scope& scope);
  void want_above(Round& round, const std::string& path);
  void want_below(Round& round, const std::string& path);
  void want_string(Round& round, const std::string& key, Round::Handler handler);
  void want_lease(Round& round, const LeaseId& id);
  void want_ticket(Round& round, const GroupId& id);
  void want_owner(Round& round, const Owner& owner);
  void want_contentions(Round& round, std::string_view owner_text);
  void want_leases_of(Round& round, const Owner& owner, std::size_t most);
  void want_found_below(Round& round);
  void want_next(Round& round, const std::string& workspace, const std::string& path);
  void want_first_in_line(Round& round);
  std::string origin() const;
  bool was_told(const Footprint& footprint);
  void want_paths_of_leases(Round& round);
  void want_paths_of_tickets(Round& round);
  void load(Round& round);  // Runs it, and what it leads to.
  void ensure(const Scope& scope);

  // learn.cc
  void learn_owner(const Owner& owner, ReplyView told, ReplyView count);
  void learn_contentions(const std::string& key, ReplyView found);
  void learn_document(const std::string& key, ReplyView document);
  std::set<std::string_view> learn_tickets(ReplyView pairs);
  void learn_queue(const std::string& key, ReplyView queue, const std::set<std::string_view>& unreadable);
  void learn_lease(Lease lease, bool is_protected);
  void learn_ticket(Ticket ticket, bool is_protected);
  void learn_pairs(ReplyView pairs, std::size_t first, bool is_protected);
  void must_be_whole(const std::string& key) const;

  // sessions.cc
  void want_rate_window(Round& round, const std::string& session_id);
  void write_sessions(Commands& commands);

  // reads.cc
  std::vector<std::string> members(const std::string& key);
  std::optional<Lease> newest_stored(const std::string& key, const Filter& whose);
  void load_by_score(const std::string& key, const std::string& prefix, bool leases,
                     std::vector<std::string> range, std::size_t limit, bool watch = false);
  void load_all_leases();
  void load_settings();

  // writes.cc
  std::size_t forget_dropped(std::size_t limit);
  std::size_t forget_history(WallTime before, std::size_t limit);
  void want_dropped(Round& round, const std::string& member);

  // commit.cc
  void want_protected(Round& round, const LeaseId& id);
  void want_path_for_write(Round& round, const std::string& path);
  void want_for_write(Round& round);
  void respect_intent() const;
  bool execute(Commands& commands);
  std::vector<Reply> exchange_commit();
  void learn_from_guards(std::span<const Reply> guards);
  void must_have_succeeded(ReplyView executed);

  // write_leases.cc
  void write_lease(Commands& commands, const LeaseId& id);
  void write_indexes(Commands& commands, const std::optional<Lease>& before, const Lease* after);
  void limit_owners(const Commands& commands);
  void write_owners(Commands& commands);
  void write_path(Commands& commands, const std::string& path);
  void write_ticket(Commands& commands, const GroupId& id);
  void write_queue_index(Commands& commands, const std::string& path);

  // write_others.cc
  void write_kept(Commands& commands);
  void write_contentions(Commands& commands);
  void write_settings(Commands& commands);
  void write_events(Commands& commands);

  Connection& connection_;
  Shared& shared_;
  Leftover& leftover_;

  std::int64_t server_ms_ = 0;
  std::chrono::nanoseconds asked_{};  // When, as since_boot().
  bool began_ = false;
  bool told_ = false;                // By a ring, instead of reading.
  bool knows_of_waiter_ = false;     // So there is more to read than documents.
  bool of_one_moment_ = true;        // What was read.
  std::size_t watched_ = 0;          // How many keys that would be, each by itself.
  bool watches_everything_ = false;  // By the keys of which every change touches one.
  bool watches_guard_ = false;
  bool spares_above_ = false;   // Looks at `dirs` first, which is watched.
  bool nothing_above_ = false;  // Nobody has or wants a directory.
  bool makes_format_ = false;   // From now on `dirs` is complete.
  std::uint64_t next_token_ = 0;
  std::uint64_t token_end_ = 0;
  std::string foreign_intent_;
  std::vector<Owner> callers_;  // Those the footprint names.

  std::unordered_map<std::string, std::string> bad_;  // Keys that cannot be what we wrote, and why.
  std::vector<std::string> found_below_;              // Paths to load next.
  std::vector<std::string> spared_;                   // Paths above which nobody looked yet.
  std::unordered_map<std::string, std::vector<std::string>> lists_;  // Members of sets and lists, by key.

  // What the body changed besides.
  std::map<std::string, std::pair<Owner, std::optional<Notice>>> changed_notices_;
  std::map<std::string, std::optional<Answer>> changed_answers_;  // By owner and key, as in the key's name.
  // By the owner's key and the path.
  std::map<std::pair<std::string, std::string>, std::optional<Contention>> changed_contentions_;
  std::set<std::string> changed_windows_;  // By session.
  // By session and field.
  std::map<std::pair<std::string, std::string>, std::optional<SessionPath>> changed_session_paths_;
  std::unordered_map<std::string, std::string> texts_;      // Leases as they are going to be written.
  std::vector<std::pair<std::string, std::string>> stale_;  // Members of sorted sets that lead nowhere.
};

}  // namespace leasehold::redis
