#pragma once

#include <map>
#include <string>
#include <vector>

#include "leasehold/calls.h"
#include "leasehold/gate.h"
#include "leasehold/result.h"

namespace leasehold::simulation {

// What happened, a line each, for people and for comparing two runs. Tokens, leases and tickets are
// numbered as they come up, because real ones are times and chance.
class Trace {
 public:
  void add(Time now, std::string line);

  // A line that two runs may differ in.
  void add_aside(Time now, std::string line);

  std::string name(Token token) { return numbered(tokens_, token, 't'); }
  std::string name(const LeaseId& id) { return numbered(leases_, id, 'l'); }
  std::string name(const GroupId& id) { return numbered(tickets_, id, 'q'); }

  std::string text(const AcquireRequest& request);
  std::string text(const Selection& which);
  std::string text(const Result<AcquireAnswer>& answer, Time now);
  std::string text(const Result<Outcomes>& answer);
  std::string text(const Result<CheckAnswer>& answer);
  std::string text(const Result<GateAnswer>& answer);
  std::string text(const Result<void>& answer);
  std::string text(const Result<std::size_t>& answer);

  const std::vector<std::string>& lines() const { return lines_; }

  // Of all lines but asides.
  const std::vector<std::string>& decisions() const { return decisions_; }

 private:
  template <class Key>
  static std::string numbered(std::map<Key, std::size_t>& numbers, const Key& key, char letter) {
    return letter + std::to_string(numbers.emplace(key, numbers.size() + 1).first->second);
  }
  std::string text(const Decision& decision, Time now);

  std::vector<std::string> lines_;
  std::vector<std::string> decisions_;
  std::map<Token, std::size_t> tokens_;
  std::map<LeaseId, std::size_t> leases_;
  std::map<GroupId, std::size_t> tickets_;
};

std::string text(const Scope& scope);

// "12.345" for a moment or a span in seconds.
std::string seconds(std::chrono::nanoseconds span);

}  // namespace leasehold::simulation
