// What stands in each index, as the records tell it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "leasehold/gate.h"
#include "store/records.h"
#include "store/redis/keys.h"

namespace leasehold::redis {

// All that indexes lead to, of one workspace.
struct Records {
  std::map<std::string, std::vector<Lease>> documents;  // By path: who holds it, as its document has it.
  std::map<std::string, Lease> leases;                  // By id, whatever their status.
  std::vector<Ticket> tickets;
  std::vector<Notice> notices;
  std::vector<Contention> contentions;
  std::vector<Answer> answers;
};

// The members of an index with what stands beside each: the value of a hash, the score of a sorted set; in a
// list, what they are ordered by.
using Index = std::map<std::string, std::string>;
using Indexes = std::map<std::string, Index>;  // By key.

Indexes indexes_of(const Keys& keys, const Records& records);

// How what is to be dropped is called in its index.
std::string drop_name(const Answer& answer);
std::string drop_name(const Owner& owner, const std::string& notice);
std::string drop_name(std::string_view owner_text, std::string_view path);

// A directory that a request wants, if it wants one.
const WantedPath* directory_of(const Ticket& ticket);

// As the score of what is active: not below 0. What has ended has its moment below 0.
std::string active_score(Time deadline);
std::string ended_score(Time ended_at);

}  // namespace leasehold::redis
