// What a commit writes, and what must not have changed for it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "store/etcd/cluster.h"
#include "store/etcd/keys.h"

namespace leasehold::etcd {

// The key is as it was written then; 0: it does not exist.
pb::Compare exactly(const std::string& key, std::int64_t mod_revision);
pb::RequestOp put_op(const std::string& key, std::string value, std::int64_t lease = 0);

// What was read, and therefore must be as it was.
class Basis {
 public:
  // Everything in the range. That something in it was deleted is noticed because whoever deletes there also
  // writes the area's guard.
  void add(const KeyRange& range) { ranges_.insert(range); }
  // One key; 0: it does not exist.
  void add(const std::string& key, std::int64_t mod_revision) { keys_.emplace(key, mod_revision); }
  // The same for a key that etcd itself may drop, if there is room: it is also in a range.
  void add_fleeting(const std::string& key, std::int64_t mod_revision) {
    fleeting_.emplace(key, mod_revision);
  }

  void remove(const KeyRange& range) { ranges_.erase(range); }
  std::size_t size() const { return ranges_.size() + keys_.size() + fleeting_.size(); }

  // Whether a commit says that all of it is as it was read. A range with an empty end is one key.
  bool has(const KeyRange& range) const {
    return range.second.empty() ? keys_.contains(range.first) : ranges_.contains(range);
  }

  // Else those are left out.
  bool has_room_for_fleeting(std::size_t most) const { return size() <= most; }

  // As comparisons with what was there at `revision`, at most `most`. If there are more, neighbouring ranges
  // become one: then changes in between count as conflicts too.
  std::vector<pb::Compare> compares(std::int64_t revision, std::size_t most) const;

 private:
  std::set<KeyRange> ranges_;
  std::map<std::string, std::int64_t> keys_;
  std::map<std::string, std::int64_t> fleeting_;
};

class Changes {
 public:
  void put(const std::string& key, std::string value, std::int64_t lease = 0) {
    puts_.insert_or_assign(key, Put{std::move(value), lease});
  }
  void erase(const std::string& key) { deletes_.insert(key); }
  // What stood there is over, and the key is empty until it is used again, or for as long as a guard: whoever
  // read the area is told of the change, and there is nothing to delete.
  void retire(const std::string& key) { retired_.insert(key); }
  // Something in the area was deleted.
  void guard(const std::string& area) { guards_.insert(area); }
  // The same, told even to those who look at no more of the area than its guard.
  void mark(const std::string& area) { marked_.insert(area); }
  bool needs_guards() const;

  // In no particular order: no key is in two of them. What is put is not deleted.
  std::vector<pb::RequestOp> ops(std::int64_t guard_lease) const;

 private:
  struct Put {
    std::string value;
    std::int64_t lease = 0;
  };
  bool is_touched(const std::string& area) const;

  std::map<std::string, Put> puts_;
  std::set<std::string> deletes_;
  std::set<std::string> retired_;
  std::set<std::string> guards_;
  std::set<std::string> marked_;
};

// One request of all that. A transaction may have only so many operations, but each may be a transaction
// itself. Throws Failure: limit_exceeded.
pb::TxnRequest transaction_of(std::vector<pb::Compare> compares, std::vector<pb::RequestOp> ops,
                              std::size_t ops_max, const Address& address);

}  // namespace leasehold::etcd
