// How a script writes what differs from run to run, or is too long to read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "leasehold/lease.h"

namespace leasehold::scenario {

// Real tokens are times and real ids are random: a script calls them t1, t2 ... and l1, l2 ... in the
// order in which they first appear.
class Names {
 public:
  std::string of(Token token) { return name(tokens_, token, 't'); }
  std::string of(const LeaseId& id) { return name(leases_, id, 'l'); }

  // Nothing for a name that did not appear yet.
  std::optional<Token> token(std::string_view text) const { return find(tokens_, text); }
  std::optional<LeaseId> lease(std::string_view text) const { return find(leases_, text); }

 private:
  template <class Thing>
  static std::string name(std::map<Thing, std::string>& names, const Thing& thing, char letter) {
    return names.try_emplace(thing, letter + std::to_string(names.size() + 1)).first->second;
  }

  template <class Thing>
  static std::optional<Thing> find(const std::map<Thing, std::string>& names, std::string_view text) {
    for (const auto& [thing, name] : names) {
      if (name == text) return thing;
    }
    return std::nullopt;
  }

  std::map<Token, std::string> tokens_;
  std::map<LeaseId, std::string> leases_;
};

// `ann`, or `ann@s1` in session s1.
Owner parse_owner(std::string_view text);
std::string to_text(const Owner& owner);

// `src/a.h` is the key /src/a.h; `src/` the folder with all below it; `port:3000` is itself.
bool looks_like_path(std::string_view text);
Scope parse_scope(std::string_view text);
std::string to_text(const Scope& scope);

}  // namespace leasehold::scenario
