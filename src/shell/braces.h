#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "shell/syntax.h"

namespace leasehold::shell {

// a{b,c}d and a{1..3}: every word that it stands for. Nothing: more than `most`.
std::optional<std::vector<Word>> braced(const Word& word, std::size_t most);

}  // namespace leasehold::shell
