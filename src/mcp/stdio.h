// One client on two descriptors: one message in each line.
#pragma once

#include "mcp/server.h"

namespace leasehold::mcp {

// Serves until the input ends, the output takes no more, or `stop` becomes readable. Calls that still wait
// are given up then. Blocks.
void serve_lines(Server& server, int in, int out, int stop);

}  // namespace leasehold::mcp
