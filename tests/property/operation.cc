#include "property/operation.h"

#include <array>
#include <ostream>
#include <string_view>

namespace leasehold::property {
namespace {

constexpr std::array<std::string_view, 18> kVerbs = {
    "acquires",      "advance",      "releases",   "dies",     "polls",         "cancels",
    "renews",        "releases all", "renews all", "upgrades", "downgrades",    "transfers",
    "transfers all", "force",        "recall",     "checks",   "starts a turn", "stops its turn",
};
static_assert(kVerbs.size() == static_cast<std::size_t>(Verb::turn_stopped) + 1);

constexpr std::array<std::string_view, 4> kAttention = {"swept", "polled", "polled upward", "unseen"};

void show_acquire(const Operation& operation, std::ostream& out) {
  for (const int place : operation.places) out << ' ' << to_text(place_at(place));
  out << (operation.exclusive ? " exclusive" : " shared") << " ttl " << operation.ttl;
  if (operation.wait > 0) out << " wait " << operation.wait;
  if (operation.priority != 0) out << " priority " << operation.priority;
  if (operation.attended) out << " attended";
  if (operation.one_renewal) out << " one renewal";
}

rc::Gen<Verb> any_verb() {
  return rc::gen::weightedElement<Verb>({{12, Verb::acquire},
                                         {6, Verb::advance},
                                         {4, Verb::release},
                                         {1, Verb::kill},
                                         {2, Verb::poll},
                                         {1, Verb::cancel},
                                         {2, Verb::renew},
                                         {1, Verb::release_all},
                                         {1, Verb::renew_all},
                                         {2, Verb::upgrade},
                                         {1, Verb::downgrade},
                                         {2, Verb::transfer},
                                         {1, Verb::transfer_all},
                                         {1, Verb::force},
                                         {1, Verb::recall},
                                         {1, Verb::check},
                                         {1, Verb::turn_started},
                                         {1, Verb::turn_stopped}});
}

// Shrinks towards the first.
template <class Value>
rc::Gen<Value> one_of(std::vector<Value> values) {
  const auto index = rc::gen::inRange<std::size_t>(0, values.size());
  return rc::gen::map(index, [values](std::size_t i) { return Value(values[i]); });
}

rc::Gen<std::vector<int>> some_places() {
  const auto place = rc::gen::inRange(0, static_cast<int>(all_places().size()));
  const auto distinct = [&](std::size_t count) { return rc::gen::unique<std::vector<int>>(count, place); };
  return rc::gen::weightedOneOf<std::vector<int>>({{4, distinct(1)}, {2, distinct(2)}, {1, distinct(3)}});
}

}  // namespace

std::string agent_name(int agent) {
  constexpr std::array<const char*, kAgents> kNames = {"ann", "bob", "cyd", "dee"};
  return kNames[static_cast<std::size_t>(agent)];
}

std::string to_text(const Place& place) {
  return place.path + (place.subtree ? (place.path == "/" ? "**" : "/**") : "");
}

const std::vector<Place>& all_places() {
  static const std::vector<Place> places = {{"/a/x"}, {"/a", true}, {"/a/y"}, {"/b"},
                                            {"/a"},   {"/", true},  {"/ab"},  {"port:1"}};
  return places;
}

std::set<std::string> all_paths() {
  std::set<std::string> paths;
  for (const Place& place : all_places()) paths.insert(place.path);
  return paths;
}

rc::Gen<Operation> any_operation() {
  using rc::gen::inRange;
  using rc::gen::set;
  return rc::gen::build<Operation>(
      set(&Operation::verb, any_verb()), set(&Operation::agent, inRange(0, kAgents)),
      set(&Operation::other, inRange(0, kAgents)), set(&Operation::places, some_places()),
      set(&Operation::exclusive, one_of<bool>({true, true, false})),
      set(&Operation::ttl, one_of<int>({60, 10, 400})), set(&Operation::wait, one_of<int>({0, 20, 200, 200})),
      set(&Operation::priority, one_of<int>({0, 0, 0, 1, -1, 10})),
      set(&Operation::attended, one_of<bool>({false, false, true})),
      set(&Operation::one_renewal, one_of<bool>({false, false, false, true})),
      set(&Operation::number, inRange(0, 8)),
      set(&Operation::seconds, one_of<int>({1, 5, 10, 15, 30, 60, 200})),
      set(&Operation::attention,
          one_of<Attention>({Attention::sweep, Attention::polls, Attention::polls_upward, Attention::late})));
}

void showValue(const Operation& operation, std::ostream& out) {
  const std::string_view notice = kAttention[static_cast<std::size_t>(operation.attention)];
  if (operation.verb == Verb::advance) {
    out << operation.seconds << " s pass, " << notice;
    return;
  }
  if (operation.verb == Verb::force || operation.verb == Verb::recall) {
    out << "an operator ends " << operation.place().path;
    if (operation.verb == Verb::recall) out << " in " << operation.seconds << " s";
    return;
  }
  out << agent_name(operation.agent) << ' ' << kVerbs[static_cast<std::size_t>(operation.verb)];
  switch (operation.verb) {
    case Verb::acquire:
    case Verb::upgrade:
      show_acquire(operation, out);
      break;
    case Verb::kill:
      out << ", " << notice;
      break;
    case Verb::poll:
    case Verb::cancel:
      out << " ticket " << operation.number;
      break;
    case Verb::release:
    case Verb::check:
      out << ' ' << operation.place().path << " token " << operation.number;
      break;
    case Verb::renew:
      out << ' ' << operation.place().path << " token " << operation.number << " ttl " << operation.ttl;
      break;
    case Verb::renew_all:
      out << " ttl " << operation.ttl;
      break;
    case Verb::downgrade:
      out << ' ' << operation.place().path;
      break;
    case Verb::transfer:
      out << ' ' << operation.place().path << " to " << agent_name(operation.other);
      break;
    case Verb::transfer_all:
      out << " to " << agent_name(operation.other);
      break;
    default:
      break;
  }
}

}  // namespace leasehold::property
