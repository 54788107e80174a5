#pragma once

#include <span>
#include <string>
#include <string_view>

namespace leasehold {

// " Did you mean acquire?", if one of the words is nearly `word`; else nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);

}  // namespace leasehold
