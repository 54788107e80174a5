// What this process wrote last, to guess what a transaction will read besides its footprint. A wrong guess
// costs a few bytes, a missing one a round trip.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/records.h"

namespace leasehold {

// Thread-safe.
class Hints {
 public:
  void note(const std::string& owner_key, const Lease& lease) {
    const std::lock_guard lock(mutex_);
    if (paths_.size() > kMost) {
      paths_.clear();
      held_.clear();
    }
    const bool kept = lease.status == Status::active || lease.status == Status::pending;
    if (kept) {
      paths_[lease.id.text] = lease.path;
    } else {
      paths_.erase(lease.id.text);
    }
    if (lease.status == Status::active) {
      held_[owner_key].insert(lease.path);
    } else if (auto found = held_.find(owner_key); found != held_.end()) {
      found->second.erase(lease.path);
      if (found->second.empty()) held_.erase(found);
    }
  }

  void note(const Ticket& ticket) {
    const std::lock_guard lock(mutex_);
    if (tickets_.size() > kMost) tickets_.clear();
    tickets_[ticket.id.text] = ticket.leases;
  }

  // The path of a lease, or nothing.
  std::string path_of(const LeaseId& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = paths_.find(id.text);
    return found == paths_.end() ? std::string() : found->second;
  }

  std::vector<std::string> held_by(const std::string& owner_key, std::size_t most) const {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(owner_key);
    if (found == held_.end() || found->second.size() > most) return {};
    return {found->second.begin(), found->second.end()};
  }

  std::vector<LeaseId> leases_of(const GroupId& ticket) const {
    const std::lock_guard lock(mutex_);
    const auto found = tickets_.find(ticket.text);
    return found == tickets_.end() ? std::vector<LeaseId>() : found->second;
  }

 private:
  static constexpr std::size_t kMost = 100'000;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::string> paths_;
  std::unordered_map<std::string, std::set<std::string>> held_;
  std::unordered_map<std::string, std::vector<LeaseId>> tickets_;
};

}  // namespace leasehold
