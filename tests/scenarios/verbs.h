// What a step can do.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/answer.h"
#include "scenarios/script.h"
#include "scenarios/world.h"

namespace leasehold::scenario {

// A step's words, sorted out by its verb's usage.
struct Arguments {
  std::string first;               // OWNER, NAME or TIME.
  std::vector<std::string> paths;  // As written.
  std::set<std::string> flags;
  std::map<std::string, std::string> options;

  bool has(const std::string& flag) const { return flags.contains(flag); }
  std::string text(const std::string& option) const;  // Empty if it is not there.
  std::optional<Duration> time(const std::string& option) const;
  std::optional<int> number(const std::string& option) const;
  std::vector<Scope> scopes() const;
};

struct Verb {
  std::string_view name;

  // What follows the name, and all that may: OWNER, NAME or TIME (first), PATH... (at least one),
  // [PATH...], [flag], [option=VALUE], option=VALUE (must be there).
  std::string_view usage;

  // Nothing: it happens to the world, and nobody is asked.
  std::optional<Answer> (*run)(World& world, const Arguments& arguments);
};

// In the order a reader should learn them.
std::vector<Verb> all_verbs();
std::vector<Verb> acquiring_verbs();
std::vector<Verb> holding_verbs();
std::vector<Verb> gate_verbs();
std::vector<Verb> operator_verbs();
std::vector<Verb> world_verbs();

// Throws BadStep where the step does not fit the usage.
Arguments sort_out(const Step& step, const Verb& verb);

// Throws BadStep if it is not a duration.
Duration parse_time(std::string_view what, std::string_view text);

}  // namespace leasehold::scenario
