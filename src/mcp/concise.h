#pragma once

#include "mcp/json_rpc.h"

namespace leasehold::mcp {

// A document as a model reads it: it pays for every character. Below the top, what is empty goes, times stand
// once, and what only programs ask for (lease --json) is left out. No word is another one.
json::object concise(json::object document);

}  // namespace leasehold::mcp
