#pragma once

#include "leasehold/error.h"

namespace leasehold::redis {

// Thrown by whatever fails below a call of the store, and caught by that call only.
struct Failure {
  Error error;
  bool lost_connection = false;  // The connection is of no use any more.
  bool was_closed = false;       // By the other side, and perhaps long ago.
  bool memory_is_full = false;   // The server's.
};

// What was read is not what is there any more: the body has to run again. Thrown and caught likewise.
struct Conflict {
  bool held_back = false;  // For somebody who announced itself.
};

}  // namespace leasehold::redis
