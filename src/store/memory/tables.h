// The records of a memory store and their indexes, with undo.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace leasehold {

// One workspace's records. Each set_*() puts a record or, given nothing, removes it; it keeps every
// index true and returns what stood there before, so that the same call with that value undoes it.
class Tables {
 public:
  struct StoredLease {
    Lease lease;
    // Orders leases by age. Given as 0: that of the record it replaces, or the next one.
    std::uint64_t insertion = 0;
  };

  // What a renewal changes.
  struct Term {
    explicit Term(const Lease& lease)
        : expires_at(lease.expires_at),
          last_heartbeat_at(lease.last_heartbeat_at),
          updated_at(lease.updated_at),
          ttl(lease.ttl),
          renewal_count(lease.renewal_count) {}

    Time expires_at;
    Time last_heartbeat_at;
    Time updated_at;
    Duration ttl;
    int renewal_count;
  };

  std::optional<StoredLease> set_lease(const LeaseId& id, std::optional<StoredLease> value);
  Term set_term(const LeaseId& id, const Term& term);  // Of an active lease.
  std::optional<Ticket> set_ticket(const GroupId& id, std::optional<Ticket> value);
  std::optional<Answer> set_answer(const Owner& owner, const std::string& key, std::optional<Answer> value);
  std::optional<Contention> set_contention(const Owner& owner, const std::string& path,
                                           std::optional<Contention> value);
  std::optional<RateWindow> set_rate_window(const std::string& session_id, std::optional<RateWindow> value);
  std::optional<SessionPath> set_session_path(const SessionPath& key, std::optional<SessionPath> value);
  std::optional<Notice> set_notice(const std::string& id, std::optional<Notice> value);

  std::vector<Lease> leases_at(const Scope& scope) const;
  std::vector<Ticket> tickets_at(const std::vector<Scope>& scopes) const;  // Each once.
  std::vector<const Ticket*> find_tickets_at(const Scope& scope) const;    // Until the next change.
  std::vector<InLine> line_at(const std::string& path) const;
  std::optional<Lease> lease(const LeaseId& id) const;
  const Lease* find_lease(const LeaseId& id) const;  // Until the next change. Null: there is none.
  std::optional<Ticket> ticket(const GroupId& id) const;
  std::optional<Lease> last_lease(const Owner& owner, const std::string& path) const;
  std::optional<Lease> last_lease_in(const std::string& session_id, const std::string& path) const;
  std::vector<Lease> leases(const Filter& filter) const;
  std::vector<Ticket> tickets(const Filter& filter) const;
  std::size_t lease_count(const Owner& owner) const;
  std::vector<Notice> notices(const Owner& owner) const;
  std::optional<Answer> answer(const Owner& owner, const std::string& key) const;
  std::optional<Contention> contention(const Owner& owner, const std::string& path) const;
  std::vector<Contention> contentions(const Filter& filter) const;
  std::optional<RateWindow> rate_window(const std::string& session_id, Time now) const;
  std::vector<SessionPath> session_paths(const std::string& session_id, WallTime wall) const;
  Due due(Time moment, std::size_t limit) const;

  // Ids of what Transaction::forget may remove.
  std::vector<LeaseId> forgettable_leases(Time ended_before, std::size_t limit) const;
  std::vector<GroupId> forgettable_tickets(Time ended_before, std::size_t limit) const;
  std::vector<Notice> forgettable_notices(Time now, std::size_t limit) const;
  std::vector<Answer> forgettable_answers(Time now, std::size_t limit) const;
  std::vector<Contention> forgettable_contentions(Time now, std::size_t limit) const;
  std::vector<RateWindow> closed_rate_windows(Time now) const;
  std::vector<SessionPath> dropped_session_paths(WallTime wall) const;

 private:
  // Several records may share one path: shared holders, and a subtree lease beside a file's.
  template <class RecordId>
  using ByPath = std::map<std::string, std::set<RecordId>>;

  template <class RecordId>
  static std::vector<const RecordId*> candidates(const ByPath<RecordId>& index, const Scope& scope);

  std::optional<Lease> last_lease(const Filter& whose, const std::string& path) const;
  void replace(StoredLease& stored, StoredLease& value);
  void index(const StoredLease& stored, bool insert);
  void index_held(const StoredLease& stored, bool insert);
  void index(const Ticket& ticket, bool insert);

  std::uint64_t insertions_ = 0;
  std::map<LeaseId, StoredLease> leases_;
  ByPath<LeaseId> active_by_path_;
  std::map<Owner, std::set<LeaseId>> active_by_owner_;
  std::set<std::pair<Time, LeaseId>> active_by_deadline_;
  std::set<std::pair<Time, LeaseId>> ended_;
  // Those that are or were held, oldest first.
  std::map<std::string, std::map<std::uint64_t, LeaseId>> held_by_path_;

  std::map<GroupId, Ticket> tickets_;
  ByPath<GroupId> pending_by_path_;
  std::set<std::pair<Time, GroupId>> pending_by_deadline_;

  std::map<std::pair<Owner, std::string>, Answer> answers_;
  std::map<std::string, Notice> notices_;
  std::map<std::pair<Owner, std::string>, Contention> contentions_;
  std::map<Owner, std::set<std::string>> notices_by_owner_;
  std::map<std::string, RateWindow> rate_windows_;
  std::map<std::string, std::map<Scope, SessionPath>> session_paths_;
};

}  // namespace leasehold
