// What the history of many processes must look like, whatever happened to them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulation/fold.h"
#include "store/store.h"

namespace leasehold::processes {

// Reads on where it stopped, so that it can follow a store in use.
//
// A grant's `reason` must say how many leases it is of.
class Replay {
 public:
  // Reads what is new in the view and compares all of it with the view's records: no two conflicting leases
  // at once (I1), tokens that rise (I4), whole grants (I10), history equal to state (I20). Nothing, or what
  // is wrong.
  std::optional<std::string> follow(View& view);

  // To be asked in the end, when nobody holds or waits any more: what was left behind.
  std::optional<std::string> find_stranded() const;

  std::size_t grants() const { return groups_.size(); }
  std::size_t events() const { return events_; }
  std::size_t waits() const { return waits_; }

 private:
  struct Group {
    std::size_t first = 0;  // Which event of all it begins with.
    std::size_t leases = 0;
    std::size_t wanted = 0;
  };

  std::optional<std::string> apply(const Event& event);
  std::optional<std::string> check_grant(const Event& event);

  simulation::Fold fold_;
  std::map<LeaseId, Event> held_;
  std::map<Scope, Token> last_tokens_;
  std::map<GroupId, Group> groups_;
  std::uint64_t sequence_ = 0;
  std::size_t events_ = 0;
  std::size_t waits_ = 0;
};

}  // namespace leasehold::processes
