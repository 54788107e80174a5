#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "shell/follower.h"
#include "shell/place.h"

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

  // Where a path may lead; nowhere if it is not known.
  std::vector<std::string> places(const Argument& path) const {
    std::vector<std::string> all;
    if (!path.is_text()) return all;
    for (const std::string& folder : state.folders) all.push_back(placed(folder, path.text));
    return all;
  }
};

}  // namespace leasehold::shell
