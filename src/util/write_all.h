#pragma once

#include <string_view>
#include <system_error>

namespace leasehold {

// All of the text, in as many calls as it takes. Returns what the system says; errc() if all is written.
std::errc write_all(int fd, std::string_view text);

}  // namespace leasehold
