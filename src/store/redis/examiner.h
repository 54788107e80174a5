// Looks at every key of a workspace for what no transaction of ours could have left there: values that cannot
// be read, keys of another type, copies that differ, indexes that are not what the records say.
//
// It reads key by key while others go on, but watches what every change of theirs touches; and what it makes
// right it makes right in one step, which does not happen if anything was changed meanwhile. So nobody ever
// sees a part of a repair, wherever it ends.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/calls.h"
#include "store/clock.h"
#include "store/redis/connection.h"
#include "store/redis/indexes.h"
#include "store/redis/keys.h"

namespace leasehold::redis {

struct KeyKind;

class Examiner {
 public:
  // A clock, if it is not the server's time that leases go by.
  Examiner(Connection& connection, const Keys& keys, const StoreClock* clock)
      : connection_(connection), keys_(keys), clock_(clock) {}

  // Others hold back for a while, until repair() or their patience ends. Before examine(). Throws Failure.
  void announce();
  // What is wrong; `repaired` says whether finish() could make it right. To repair, it also looks for what is
  // to be ended in history. Throws Failure.
  std::vector<Defect> examine(bool repair);
  // Makes right what examine() found, or, if that is not wanted, only tells whether it was so. False: others
  // changed something meanwhile; nothing was written. Throws Failure.
  bool finish(bool repair);

 private:
  using Command = std::vector<std::string>;

  std::vector<Reply> ask(const std::vector<Command>& commands);
  Reply ask_one(const Command& command);

  std::vector<std::string> scan(const std::string& pattern);
  void watch();
  void read_types();
  void read_values();
  void learn(const KeyKind& kind, const std::string& name, ReplyView values);
  void settle_copies();
  void examine_documents();
  void examine_indexes();
  void examine_index(const KeyKind& kind, const std::string& key, const Index& should);
  void examine_intent();
  void examine_token();
  void examine_history();
  void note_last_word(const Event& event);
  void end_in_history();
  Time now();

  void found(std::string_view name, std::string what);
  std::string key(std::string_view name) const;

  Connection& connection_;
  const Keys& keys_;
  const StoreClock* clock_;
  std::map<std::string, const KeyKind*> there_;  // By name without the prefix; those of the right type.
  Records records_;
  Indexes indexes_;                    // As they are.
  std::map<std::string, Event> gone_;  // The last word about leases that are held only in history.

  std::vector<Defect> defects_;
  std::set<std::string> told_;   // Where they are.
  std::vector<Command> repair_;  // What makes all of it right.
};

}  // namespace leasehold::redis
