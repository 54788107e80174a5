#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace leasehold {

// 64-bit FNV-1a over the parts, each closed with a NUL so that ("ab", "c") and ("a", "bc") differ; as 16
// hexadecimal digits. Names things, resists nobody. Stored; never change it.
std::string stable_hash(std::initializer_list<std::string_view> parts);

}  // namespace leasehold
