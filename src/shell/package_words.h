// Options of package managers, which what they do and what they run both have.
#pragma once

#include <string_view>

namespace leasehold::shell {

inline constexpr std::string_view kNpmValues =
    "-c --call -p --package -w --workspace --prefix -C --registry --location";
inline constexpr std::string_view kNpmFolder = "--prefix -C";
inline constexpr std::string_view kNpmAround = "-w --workspace -ws --workspaces";
inline constexpr std::string_view kPnpmValues = "--package -C --dir -F --filter";
inline constexpr std::string_view kPnpmFolder = "-C --dir";
inline constexpr std::string_view kPnpmAround = "-F --filter -r --recursive";

}  // namespace leasehold::shell
