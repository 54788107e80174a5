#pragma once

#include "leasehold/calls.h"
#include "mcp/json_rpc.h"

namespace leasehold::mcp {

// A document as a model reads it: it pays for every character. Below the top, what is empty goes, times stand
// once, and what only programs ask for (lease --json) is left out. No word is another one.
json::object concise(json::object document);

// concise(board_json(board)), without making what would be left out: this is asked before every write.
json::object concise_board(const Board& board);

}  // namespace leasehold::mcp
