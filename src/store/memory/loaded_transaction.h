// What transactions of Redis and etcd have in common: everything a body reads is loaded into tables in memory
// first, once; its writes go there too, so it sees them; and the differences are written at the end. How to
// load and to write is for the store to say; what a body sees and what it changed is here.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/memory/tables.h"
#include "store/store.h"

namespace leasehold {

// A record under its id: how it is stored (if that is known), and whether the body wrote it.
template <class Record>
struct KnownRecord {
  std::optional<Record> stored;
  bool is_new = false;      // Written without having been read: taken for new until somebody asks.
  bool is_changed = false;  // By the body.
};

// `Keys` are the names of the store; a known lease or ticket is a KnownRecord with what the store adds.
template <class Keys, class KnownLease, class KnownTicket>
class LoadedTransaction : public Transaction {
 public:
  Time now() const override { return now_; }
  WallTime wall() const override { return wall_; }

  using Transaction::put;
  void put(const Lease& lease) override {
    note_change(known_leases_[lease.id.text], changed_leases_, lease.id);
    tables_.set_lease(lease.id, Tables::StoredLease{.lease = lease});
  }
  void put(const Ticket& ticket) override {
    note_change(known_tickets_[ticket.id.text], changed_tickets_, ticket.id);
    tables_.set_ticket(ticket.id, ticket);
  }
  void put(const Setting& setting) override {
    Setting stored = setting;
    stored.updated_at = std::chrono::floor<std::chrono::seconds>(wall_);
    settings_.insert_or_assign(stored.stored_key(), stored);
    changed_settings_.insert_or_assign(stored.stored_key(), stored);
  }
  void erase_setting(const std::string& stored_key) override {
    settings_.erase(stored_key);
    changed_settings_[stored_key] = std::nullopt;
  }
  void append(Event event) override { events_.push_back(std::move(event)); }
  void ring(const GroupId& ticket) override { bells_.push_back(ticket); }

 protected:
  LoadedTransaction(const Keys& keys, bool writes) : keys_(keys), writes_(writes) {}

  const Keys& keys_;
  const bool writes_;
  Time now_;
  WallTime wall_;

  Tables tables_;
  std::unordered_set<std::string> loaded_;  // What was read: keys, or what else it is called.
  std::unordered_map<std::string, KnownLease> known_leases_;
  std::unordered_map<std::string, KnownTicket> known_tickets_;
  std::unordered_map<std::string, std::size_t> held_;              // By owner's key: how many are stored.
  std::map<std::string, std::vector<std::string>> invalid_paths_;  // By session.
  std::map<std::string, Setting> settings_;  // By stored key; complete once they were loaded.

  // What the body changed, in order.
  std::vector<LeaseId> changed_leases_;
  std::vector<GroupId> changed_tickets_;
  std::map<std::string, std::optional<Setting>> changed_settings_;
  std::vector<Event> events_;
  std::vector<GroupId> bells_;
  std::vector<std::string> trimmed_;  // Events that are to go.

 private:
  template <class Known, class Id>
  void note_change(Known& known, std::vector<Id>& changed, const Id& id) {
    if (known.is_changed) return;
    known.is_changed = true;
    changed.push_back(id);
    if (!known.stored) known.is_new = !loaded_.contains(key_of(id));
  }
  std::string key_of(const LeaseId& id) const { return keys_.id(id); }
  std::string key_of(const GroupId& id) const { return keys_.ticket(id); }
};

}  // namespace leasehold
