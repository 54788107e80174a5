// The folder a store lives in: what may stand there, and what must not.
#pragma once

#include <string>

#include "leasehold/result.h"

namespace leasehold::sqlite {

// Names inside the folder.
inline constexpr const char* kDatabaseName = "leases.db";
inline constexpr const char* kGateName = "gate";
inline constexpr const char* kBellsName = "bells";

// Makes what is missing (folders 0700, files 0600) and refuses what cannot hold a store.
// Errors: unavailable (no permission, a full disk), config_error (something else stands there, or the
// file system is a network's; `file_system_type` is statfs's f_type).
Result<void> prepare_folder(const std::string& folder, long (*file_system_type)(const std::string& folder));

// f_type of the file system `path` is on; 0 if it cannot be told.
long file_system_type(const std::string& path);

}  // namespace leasehold::sqlite
