#pragma once

#include "shell/follower.h"

namespace leasehold::shell {

// A command about to run: words.front() is its name.
struct Call {
  Follower& follower;
  State& state;
  const Arguments& words;
  const Lines& in;

  // What is behind the first `count` words.
  Arguments rest(std::size_t count = 1) const {
    return {words.begin() + static_cast<std::ptrdiff_t>(std::min(count, words.size())), words.end()};
  }
};

}  // namespace leasehold::shell
