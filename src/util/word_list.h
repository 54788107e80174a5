#pragma once

#include <string_view>
#include <vector>

namespace leasehold {

// Whether `item` is one of the words of a list that has blanks between them.
bool is_listed(std::string_view list, std::string_view item);

// Its words; they are parts of it.
std::vector<std::string_view> words_of(std::string_view list);

}  // namespace leasehold
