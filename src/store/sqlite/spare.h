// Space kept back, so that leases can be given back on a full disk.
//
// Most of it lies in the log itself, behind its end: what was freed on a disk that others keep filling would
// be theirs before we could use it. The file `reserve` is for what must grow beside the log: the database,
// when the log is moved into it. Who takes leases leaves both alone.
#pragma once

#include <string>

#include "store/sqlite/connection.h"

namespace leasehold::sqlite {

inline constexpr const char* kReserveName = "reserve";

// Whether so little is left on the disk that only what frees something should be written.
bool is_short_of_space(const std::string& folder);

// Makes the log's file longer than the log. As much as there is, if that is not much. Inside the gate.
void keep_spare(Connection& connection);

// Gives back what a long log took, if somebody could use it. Inside the gate.
void shrink_log(Connection& connection);

// As much as there is, if that is not much. Returns whether there is any. Touches nothing but a file of ours.
bool fill_reserve(const std::string& folder);

// One half goes into the log, the other is free for the database. False: there was none. Inside the gate.
bool spend_reserve(const std::string& folder, Connection& connection);

}  // namespace leasehold::sqlite
