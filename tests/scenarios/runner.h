// Plays a script on a store and compares the answers.
#pragma once

#include <string>
#include <vector>

#include "scenarios/script.h"
#include "support/stores.h"

namespace leasehold::scenario {

struct Failure {
  int line = 0;
  std::string message;
};

struct Played {
  std::vector<Failure> failures;
  std::string rewritten;  // The script, with the answers that were given in place of those expected.
};

// A step that makes no sense ends the play; one with another answer does not.
// `served`: over HTTP.
Played play(std::string_view text, const StoreFactory& store, bool served = false);

}  // namespace leasehold::scenario
