#pragma once

#include <algorithm>
#include <span>

#include "shell/follower.h"

namespace leasehold::shell {

// A command about to run: words.front() is its name.
struct Call {
  Follower& follower;
  State& state;
  const Arguments& words;
  const Lines& in;

  // What is behind the first `count` words; to be looked at, or to be taken.
  std::span<const Argument> behind(std::size_t count = 1) const {
    return std::span(words).subspan(std::min(count, words.size()));
  }
  Arguments rest(std::size_t count = 1) const {
    const std::span<const Argument> all = behind(count);
    return {all.begin(), all.end()};
  }
};

}  // namespace leasehold::shell
