#pragma once

#include <string_view>

namespace leasehold {

// Whether `item` is one of the words of a list that has blanks between them.
bool is_listed(std::string_view list, std::string_view item);

}  // namespace leasehold
