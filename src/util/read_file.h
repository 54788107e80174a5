#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <system_error>

namespace leasehold {

// All that is left to read of a descriptor. Errors: file_too_large (more than `bytes_max`), and whatever else
// the system says.
std::expected<std::string, std::errc> read_to_end(int fd, std::size_t bytes_max);

// The whole of a file that should be small.
// Errors: file_too_large (more than `bytes_max`), no_such_file_or_directory, and whatever else the system
// says.
std::expected<std::string, std::errc> read_file(const std::string& path, std::size_t bytes_max);

}  // namespace leasehold
