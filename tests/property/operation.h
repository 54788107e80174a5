// The steps that a random run takes. Plain data, so that a failing run shrinks to a short list that
// reads like a story: "ann acquires /a/x exclusive", "2 minutes pass", ...
#pragma once

#include <rapidcheck.h>

#include <iosfwd>
#include <set>
#include <string>
#include <vector>

namespace leasehold::property {

// Nobody else takes part. ann and bob have processes that can be watched and killed, cyd has none, and
// dee's is on a machine that cannot be seen. cyd is in bob's session.
inline constexpr int kAgents = 4;
inline constexpr int kWithoutProcess = 2;
inline constexpr int kOutOfSight = 3;
std::string agent_name(int agent);

struct Place {
  std::string path;
  bool subtree = false;

  bool operator==(const Place&) const = default;
};
std::string to_text(const Place& place);  // "/a", "/a/**"

// Few enough to meet all the time: above, below, beside, the same path with and without all below it.
const std::vector<Place>& all_places();
inline const Place& place_at(int index) { return all_places()[static_cast<std::size_t>(index)]; }
std::set<std::string> all_paths();

enum class Verb {
  acquire,
  advance,
  release,
  kill,
  poll,
  cancel,
  renew,
  release_all,
  renew_all,
  upgrade,
  downgrade,
  transfer,
  transfer_all,
  force,
  recall,
  check,
  turn_started,
  turn_stopped,
};

// How the world learns that time passed or somebody died.
enum class Attention {
  sweep,         // The sweeper runs.
  polls,         // Every waiter looks again by itself, ann's first. Then the sweeper runs.
  polls_upward,  // The same, ann's last.
  late,          // Nobody looks before somebody asks for something.
};

struct Operation {
  Verb verb = Verb::acquire;
  int agent = 0;
  int other = 0;            // Receiver of a transfer.
  std::vector<int> places;  // Indexes into all_places(); never empty.
  bool exclusive = false;
  int ttl = 0;       // Seconds.
  int wait = 0;      // Seconds; 0: do not.
  int priority = 0;  // Steps.
  bool attended = false;
  bool one_renewal = false;  // At most one.
  int number = 0;            // Which ticket; or which token: 0 none, 1 the right one, else any.
  int seconds = 0;           // To pass, or to a recall.
  Attention attention = Attention::sweep;

  const Place& place() const { return place_at(places.front()); }
};

rc::Gen<Operation> any_operation();

void showValue(const Operation& operation, std::ostream& out);

}  // namespace leasehold::property
