// Looks at every key of a workspace for what no transaction of ours could have left there: values that cannot
// be read, keys of another type, indexes that lead nowhere, records that no index leads to.
//
// It reads key by key while others go on, so what it finds may just be changing. Each repair therefore looks
// again, in the same step that changes something, and does nothing if it is not as it was found.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/calls.h"
#include "store/records.h"
#include "store/redis/connection.h"
#include "store/redis/keys.h"

namespace leasehold::redis {

struct KeyKind;

class Examiner {
 public:
  Examiner(Connection& connection, const Keys& keys, bool repair)
      : connection_(connection), keys_(keys), repair_(repair) {}

  // Throws Failure.
  std::vector<Defect> examine();

  // What has to be written again by a transaction, so that what leads to it is whole. After examine().
  const std::vector<LeaseId>& leases_to_write() const { return leases_to_write_; }
  const std::vector<GroupId>& tickets_to_write() const { return tickets_to_write_; }

 private:
  std::vector<std::string> scan(const std::string& pattern);
  std::vector<Reply> ask(const std::vector<std::vector<std::string>>& commands);
  Reply ask_one(const std::vector<std::string>& command);
  bool repair(const std::vector<std::string>& command);

  void examine_types(const std::vector<std::string>& names);
  void examine_token();
  void examine_values();
  void examine_value(const KeyKind& kind, const std::string& name, std::string_view value);
  void examine_fields(const KeyKind& kind, const std::string& name, ReplyView pairs);
  void examine_indexes();
  void examine_lease(const Lease& lease, const std::string& text);
  void examine_ticket(const Ticket& ticket);
  void index_again(const Lease& lease, const std::string& text);

  void found(std::string_view name, std::string what, bool repaired);
  std::string key(std::string_view name) const;

  Connection& connection_;
  const Keys& keys_;
  const bool repair_;
  std::vector<Defect> defects_;
  std::map<std::string, std::vector<std::string>> names_;  // By kind; without the prefix.
  std::map<std::string, std::string> copies_;  // Leases as the documents of their paths have them.
  std::map<std::string, std::pair<Lease, std::string>> active_;
  std::map<std::string, Ticket> pending_;
  std::vector<LeaseId> leases_to_write_;
  std::vector<GroupId> tickets_to_write_;
};

}  // namespace leasehold::redis
