// Whose times a store's are, and what becomes of them when the machine starts again.
#pragma once

#include <string>

#include "leasehold/result.h"
#include "store/clock.h"
#include "store/sqlite/connection.h"

namespace leasehold::sqlite {

struct Boot {
  std::string machine_id;
  std::string boot_id;
};

// True if the file's times are those of `boot`. Throws Failure.
bool is_current(Connection& connection, const Boot& boot);

// Makes the file's times those of `boot`: all of an earlier one are moved before this one's beginning, so
// that nothing of it is in the way. But whom a daemon granted something and who did not live on this machine
// may rely on it still: such a lease begins its time anew, and history says so. Inside the gate. Error:
// config_error (the file is another machine's).
Result<void> enter_boot(Connection& connection, const Boot& boot, const StoreClock& clock);

}  // namespace leasehold::sqlite
