// What processes ask for that want the same few files.
#pragma once

#include <fmt/format.h>

#include <random>

#include "leasehold/calls.h"

namespace leasehold {

using Dice = std::minstd_rand;

inline int roll(Dice& dice, int below) { return static_cast<int>(dice() % static_cast<unsigned>(below)); }

// One hot file, some of a set, or the folder they are in. The reason is how many paths it asks for.
inline AcquireRequest contended_request(Dice& dice, Caller caller, Duration ttl, Duration wait) {
  AcquireRequest wanted = {.caller = std::move(caller)};
  switch (roll(dice, 8)) {
    case 0:
      wanted.paths = {{.path = "/set", .subtree = true}};
      break;
    case 1:
    case 2:
    case 3:
      for (int i = 0; i < 5; ++i) {
        if (roll(dice, 2) == 0) wanted.paths.push_back({.path = fmt::format("/set/{}", i)});
      }
      break;
    default:
      break;
  }
  if (wanted.paths.empty()) wanted.paths = {{.path = "/hot"}};
  wanted.mode = roll(dice, 3) == 0 ? Mode::shared : Mode::exclusive;
  wanted.ttl = ttl;
  if (roll(dice, 4) != 0) wanted.wait = wait;
  wanted.reason = std::to_string(wanted.paths.size());
  return wanted;
}

}  // namespace leasehold
