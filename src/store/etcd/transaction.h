// One body's view of etcd and what it wants to change.
//
// Everything is read at one revision into tables in memory. What was read is remembered, and at the end the
// differences are written by one transaction of etcd's on the condition that nothing of it has changed since.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/etcd/changes.h"
#include "store/etcd/etcd_store.h"
#include "store/etcd/freshness.h"
#include "store/etcd/keys.h"
#include "store/etcd/lease_pool.h"
#include "store/etcd/memory.h"
#include "store/etcd/requests.h"
#include "store/etcd/round.h"
#include "store/etcd/timeline.h"
#include "store/hints.h"
#include "store/json/rings.h"
#include "store/memory/loaded_transaction.h"
#include "store/store.h"
#include "store/stored.h"

namespace leasehold::etcd {

// Each revision has so many tokens, for bodies that draw several. A cluster that commits less than 15,000
// times a second for all its life stays behind the microseconds since 1970, where tokens would begin again if
// it lost its data. Part of what is stored; never changed.
inline constexpr std::uint64_t kTokensPerRevision = 64;

// What transactions of one store share.
struct Shared {
  Shared(std::unique_ptr<Cluster> its_cluster, EtcdOptions its_options)
      : options(std::move(its_options)), cluster(std::move(its_cluster)) {}

  const EtcdOptions options;
  const std::unique_ptr<Cluster> cluster;
  LeasePool leases{*cluster};
  Requests requests{*cluster, leases};
  Timeline timeline;
  Freshness freshness;
  Memory memory;
  Rings rings;
  Hints hints;

  const std::string& prefix() const { return cluster->address().prefix; }
};

// What one run of a body leaves for the next one.
struct Leftover {
  std::vector<LeaseId> leases;   // Ids that a body uses without reading them, and that may exist.
  std::vector<GroupId> tickets;  // The same.
  // A member may answer from what it has, without asking the others whether that is the latest. If it is not,
  // the commit fails; so this is for bodies that write, and until something was odd.
  bool may_be_old = false;
  // The same for what this process itself knows.
  bool may_be_from_memory = false;
  // The bell of the ticket that is looked for has just rung: what came with the ring.
  std::optional<Ring> ring;
};

struct KnownLease : KnownRecord<Lease> {
  std::string name;               // Its own among those of its path, if it is active there.
  Time shown_expiry;              // What the body saw instead of its expires_at.
  std::int64_t presence = 0;      // Revision of the key that says it is held; 0: etcd dropped that.
  std::int64_t mod_revision = 0;  // Of the record under its id, if that was read.
};

struct TicketRevisions {
  std::int64_t record = 0;  // 0: it was read where it waits.
  std::int64_t end = 0;     // Of what stands beside it; 0: nothing does.
};

struct KnownTicket : KnownRecord<Ticket> {
  TicketRevisions revisions;
};

// What an owner asked for: it waits, or has got it, or neither any more.
struct Asked {
  LeaseId lease;
  GroupId ticket;
  std::int64_t mod_revision = 0;
};

// Where a request waits for a path.
struct Place {
  std::string key;
  std::int64_t mod_revision = 0;
};

// Reads throw Failure or Conflict. Every record read or written belongs to one workspace.
class EtcdTransaction final
    : public LoadedTransaction<EtcdTransaction, Keys, Round, KnownLease, KnownTicket> {
  friend LoadedTransaction;

 public:
  EtcdTransaction(Shared& shared, const Keys& keys, bool writes, Leftover& leftover)
      : LoadedTransaction(keys, writes), shared_(shared), leftover_(leftover) {}

  // Reads the footprint. Throws.
  void begin(const Footprint& footprint);
  // What granting it to those who wait will take of etcd's leases is asked for now. Throws.
  void borrow_ahead();
  // Time has passed since that. False: too much, or something of it is over.
  bool resume();

  // False: something changed that was read; nothing was written. Throws Failure.
  bool commit();
  bool has_changes() const;
  // It rests on what this process knew, and nothing was asked for it at first.
  bool was_from_memory() const { return was_from_memory_; }

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
  void come_behind(const std::string& path, const std::optional<GroupId>& ahead) override {
    joined_[path] = ahead;
  }
  void let_line_grow(const std::string& path) override { growing_.insert(path); }
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
  struct Line;
  using Owned = std::pair<LeaseId, std::string>;  // With its path.

  std::string owner_key(const Owner& owner) const { return keys_.of(owner); }
  bool knows_notices(const Owner& owner) const { return loaded_.contains(keys_.of(owner)); }

  // load.cc
  bool was_told(const Footprint& footprint);
  void make_base() const;
  bool answer_from_memory(Round& round);
  void run(Round& round);
  void load(Round& round);  // Runs it, and what it leads to.
  bool is_first_time(std::string what) { return loaded_.insert(std::move(what)).second; }
  void want_clock(Round& round);
  void set_clock(WallTime stamp);
  void want_path(Round& round, const std::string& path);
  void want_leases_at(Round& round, const std::string& path);
  void want_holders(Round& round, const std::string& path);
  void want_scope(Round& round, const Scope& scope);
  void want_lease(Round& round, const LeaseId& id);
  void want_ticket(Round& round, const GroupId& id);
  void want_owner(Round& round, const std::string& owner_area);
  void want_large_owner(Round& round, const std::string& owner_area);
  void want_leases_of(Round& round, const std::string& owner_area);
  static std::string leases_wanted(const std::string& owner_area) { return "leases " + owner_area; }
  void want_session(Round& round, const std::string& session_id);
  void want_first_in_line(Round& round);
  void want_next(Round& round, const std::string& workspace, const std::string& path);
  void want_latest() const;
  void want_all_paths(Round& round);
  void want_all_tickets(Round& round);
  void ensure(const Scope& scope);

  // learn.cc
  void learn_paths(const pb::RangeResponse& found);
  void learn_lease_record(const pb::KeyValue& kv);
  void learn_ticket_records(const pb::RangeResponse& found);
  void learn_owner(const std::string& owner_area, const pb::RangeResponse& found);
  void learn_of(const pb::RangeResponse& found, bool with_leases = true);
  bool rests_on_wait(const GroupId& id);
  void learn_asked(const pb::KeyValue& kv, const std::string& path);
  void learn_lease(Lease lease, std::int64_t presence, std::int64_t mod_revision);
  void learn_ticket(Ticket ticket, const TicketRevisions& revisions);
  void note_bad(const std::string& key, std::string_view why);
  void must_be_whole(const KeyRange& range) const;
  void must_be_whole(const std::string& key) const { must_be_whole({key, key + '\0'}); }

  // reads.cc
  std::optional<Lease> newest_stored(const std::string& key, const Filter& whose);
  void load_settings();

  // forget.cc
  void load_ended();
  std::size_t forget_dropped(std::size_t limit);
  void forget_asked();

  // history.cc
  std::vector<Event> events_after(std::uint64_t sequence, std::uint64_t bucket, bool& reached);
  std::optional<std::uint64_t> oldest_bucket();
  std::size_t forget_history(WallTime before, std::size_t limit);
  std::string write_events(Changes& changes, const std::string& request);
  void turn_bucket();

  // commit.cc
  bool execute(Changes& changes);
  void remember(const pb::TxnRequest& commit, std::chrono::nanoseconds sent);
  std::map<std::string, Line> lines();
  void keep_lines(Changes& changes);
  void load_places();
  bool has_lone_rings() const;
  void ring_bells(Changes& changes, std::int64_t guard_lease);
  void write_others(Changes& changes);

  // write_leases.cc
  void write_lease(Changes& changes, const LeaseId& id);
  void write_ticket(Changes& changes, const GroupId& id);
  bool ends_by_etcd(const Lease& lease) const;
  std::int64_t attached_to(const Lease& lease);
  std::int64_t borrow_for(Time::duration left);
  // No more keys of what it gave back are to be left there.
  bool is_full_of_retired(const std::string& owner_area) const;
  bool stays(const LeaseId& id);
  bool is_listed(const std::string& owner_area, const LeaseId& id) const;
  bool is_asked(const Owner& owner, const std::string& path, const LeaseId& id) const;
  const Lease* got(const std::string& key, const Asked& asked) const;
  bool is_stale(const std::string& key, const Asked& asked) const;
  void drop_owned(Changes& changes, const Lease& lease, const std::string& name);
  void write_wait(Changes& changes, const Ticket& ticket);
  void drop_wait(Changes& changes, const Ticket& ticket);
  std::string place_at(const std::string& path, const Ticket& ticket) const;
  void tidy(Changes& changes);
  std::string free_name(const std::string& path, const LeaseId& id);

  Shared& shared_;
  Leftover& leftover_;

  std::chrono::nanoseconds began_{};  // As since_boot(): what is read is not older.
  std::int64_t revision_ = 0;         // Of all that is read. 0: nothing was read yet.
  std::int64_t committed_ = 0;        // The commit's own revision.
  bool was_from_memory_ = false;
  WallTime stamp_;          // The last one there is.
  std::uint64_t base_ = 0;  // Of tokens.
  std::uint64_t last_token_ = 0;
  std::uint64_t highest_token_ = 0;  // That was read.
  int tokens_drawn_ = 0;
  std::uint64_t bucket_ = 0;  // Of history, that is being filled.
  std::int64_t era_revision_ = 0;
  std::int64_t history_keys_ = 0;  // That the commit writes.

  Basis basis_;
  std::vector<std::pair<KeyRange, pb::RangeResponse>> read_;  // By one who writes.
  std::map<std::string, std::string> bad_;                    // Keys that cannot be what we wrote, and why.
  std::unordered_map<std::string, std::set<std::string>> names_at_;  // Of leases, by path.
  std::unordered_map<std::string, std::string> ends_;                // Of tickets, as they stand beside them.
  std::map<std::pair<std::string, GroupId>, Place> waits_at_;  // Keys of tickets at paths: their revisions.
  std::unordered_map<std::string, std::vector<Owned>> owned_;
  std::map<std::string, Asked> asked_;                    // By key.
  std::unordered_set<std::string> seen_at_;               // Paths whose areas were learned.
  std::unordered_map<std::string, std::size_t> retired_;  // Keys of what is over, of who was read whole.
  std::vector<std::string> found_owners_;  // To load next: areas that are too large to be read at once.
  std::vector<std::string> found_paths_;   // To load next.
  std::vector<std::string> found_held_;    // To load the holders of next.
  std::vector<GroupId> found_tickets_;     // The same.
  std::unordered_map<std::string, std::vector<std::string>> last_;  // Ids by area, oldest first.

  // What the body changed besides.
  std::set<std::string> growing_;                         // Paths where more may wait than was read.
  std::map<std::string, std::optional<GroupId>> joined_;  // Paths where it waits behind all, and behind whom.
  std::map<std::string, std::optional<std::string>> changed_values_;  // Keys: other records as JSON, or gone.
  std::set<std::string> changed_areas_;                               // Where one of these is gone.
};

}  // namespace leasehold::etcd
