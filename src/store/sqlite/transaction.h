// Reads and writes records inside an SQL transaction that somebody else begins and ends.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/clock.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/lease_changes.h"
#include "store/store.h"

namespace leasehold::sqlite {

// Reads throw Failure. Every record read or written belongs to one workspace.
class SqliteTransaction final : public Transaction {
 public:
  // Takes the snapshot that all reads see. Throws Failure.
  SqliteTransaction(Connection& connection, std::string workspace, const StoreClock& clock,
                    bool writes = true);

  // Writes what is kept back until the end: leases that change alike, the numbers that only rise, the counts.
  // Call it last, before the commit. Returns the bells to ring after it.
  std::vector<GroupId> finish();

  const std::string& workspace() const { return workspace_; }
  // Rises with everything that is written, but for tokens that are drawn. Throws Failure.
  std::int64_t changes();
  // It remembers so much that another one would be quicker.
  bool is_large() const;

  Time now() const override { return now_; }
  WallTime wall() const override { return wall_; }
  std::vector<Lease> leases_at(const Scope& scope) override;
  using Transaction::tickets_at;
  std::vector<Ticket> tickets_at(const std::vector<Scope>& scopes) override;
  std::vector<InLine> line_at(const std::string& path) override;
  std::optional<Lease> lease(const LeaseId& id) override;
  std::optional<Ticket> ticket(const GroupId& id) override;
  std::optional<Lease> last_lease(const Owner& owner, const std::string& path) override;
  std::optional<Lease> last_lease_in(const std::string& session_id, const std::string& path) override;
  std::vector<Lease> leases(const Filter& filter) override;
  std::vector<Ticket> tickets(const Filter& filter) override;
  std::size_t lease_count(const Owner& owner) override;
  std::vector<Notice> notices(const Owner& owner) override;
  std::optional<Answer> answer(const Owner& owner, const std::string& key) override;
  std::optional<Contention> contention(const Owner& owner, const std::string& path) override;
  std::vector<Contention> contentions(const Filter& filter) override;
  Due due(Time moment, std::size_t limit) override;
  std::vector<Event> history(const HistoryQuery& query) override;
  std::vector<Setting> settings() override;
  std::optional<RateWindow> rate_window(const std::string& session_id) override;
  SessionPaths session_paths(const std::string& session_id) override;

  Token next_token() override;
  void put(const Lease& lease) override;
  void extend(const Lease& lease) override;
  void put(const Ticket& ticket) override;
  void put(const Answer& answer) override;
  void put(const Notice& notice) override;
  void erase(const Notice& notice) override;
  void put(const Setting& setting) override;
  void erase_setting(const std::string& stored_key) override;
  void put(const Contention& contention) override;
  void erase(const Contention& contention) override;
  void put(const RateWindow& window) override;
  void put(const SessionPath& path) override;
  void erase(const SessionPath& path) override;
  void append(Event event) override;
  void ring(const GroupId& ticket) override { bells_.push_back(ticket); }
  std::size_t forget(Time ended_before, WallTime history_before, std::size_t limit) override;

 private:
  // The numbers in the table `store`.
  struct Numbers {
    std::uint64_t boot_sequence = 0;  // History up to here is from before this boot.
    std::uint64_t last_sequence = 0;
    std::uint64_t last_token = 0;
  };

  struct Stored {
    Lease lease;
    std::optional<std::int64_t> row;  // Known of those in `leases_`.
  };

  // A statement that reads or writes leases: those that changed are written before.
  Query on_leases(const char* sql);
  std::optional<Lease> read(const LeaseId& id);
  Lease read_row(Query& row);
  std::vector<Lease> all_leases(Query& query);
  std::vector<Ticket> all_tickets(Query& query);
  std::set<std::string> find_waiting(const Scope& scope);
  const Ticket& read_ticket_once(Query& row);
  void count_in(const Lease& lease);
  bool update_unread(const Lease& lease);  // False: there is no such lease.
  void update(Stored& known, const Lease& lease);
  void write(const Lease& lease, const char* sql);
  Ending ending_of(const Lease& lease) const;
  Term term_of(const Lease& lease) const;
  void write(const Ticket& ticket, std::string_view request, const char* sql);
  void write_count(const Owner& owner, std::int64_t change);
  std::vector<std::string> agents_in(const std::string& session_id);
  // Of the session, or of one agent in it.
  std::optional<Lease> newest_at(const std::string& path, const std::string& session_id,
                                 const std::optional<std::string>& agent_id);
  bool insert(const Ticket& ticket);
  void update(const Ticket& before, const Ticket& ticket);
  void add_paths(const Ticket& ticket);
  void remove_paths(const Ticket& ticket);
  std::int64_t unix_seconds(Time time) const;

  Connection& connection_;
  const std::string workspace_;
  std::string alias_;  // Stands for the workspace in every table but `workspaces`.
  std::optional<std::int64_t> changes_before_new_;  // If the workspace is new.
  Time now_;
  WallTime wall_;
  Numbers numbers_;
  bool numbers_changed_ = false;
  // Most workspaces have no subtree leases, nobody waiting and nobody denied, and then most lookups need not
  // happen.
  bool has_subtrees_ = false;
  bool has_waiters_ = false;
  bool has_contentions_ = false;
  std::map<Owner, std::int64_t> counts_;  // Changes to `owners`, written at the end.
  // What was read or written so far. A decision reads a lease before and after it writes it, and reads the
  // waiters of a queue again and again.
  std::unordered_map<std::string, Stored> leases_;
  bool remembers_all_;  // Else there are too many leases, or it only looks.
  LeaseChanges lease_changes_{connection_};
  std::unordered_map<std::string, Ticket> tickets_;
  std::map<Scope, std::set<std::string>> waiting_at_;  // Ids of tickets; all are in `tickets_`.
  std::vector<GroupId> bells_;
};

}  // namespace leasehold::sqlite
