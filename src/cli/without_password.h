#pragma once

#include <string>

namespace leasehold {

// A store's URL as it may be seen: transcripts and screens are read by others.
std::string without_password(std::string url);

}  // namespace leasehold
