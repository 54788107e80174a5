// The tables of the store, and how an older file becomes one of today. docs/formats/sqlite.md shows them.
#pragma once

#include "leasehold/result.h"
#include "store/clock.h"
#include "store/sqlite/connection.h"

namespace leasehold::sqlite {

// "LEAS": marks our files among all the SQLite files of this world.
inline constexpr int kApplicationId = 0x4C454153;

// What files this program can use as they are.
int latest_version();

// The version of an open file: 0 for an empty one, 1 to 4 for one that seed 003's own program made.
// Error: config_error (somebody else's database, or from a newer Leasehold). Throws Failure.
Result<int> version_of(Connection& connection);

// Applies what is missing, each step in a transaction of its own and recorded in `migrations`. Inside the
// gate. Errors: config_error (a step failed, and what it said), and those of the store.
Result<void> migrate(Connection& connection, int from, const StoreClock& clock);

}  // namespace leasehold::sqlite
