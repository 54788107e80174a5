// Answers as text for people. Whatever somebody else may have written is made safe for a terminal.
#pragma once

#include <span>
#include <string>

#include "cli/output.h"
#include "leasehold/calls.h"
#include "model/notice_text.h"

namespace leasehold {

// Two units at most: 4m59s, 1d2h, 250ms.
std::string span_text(std::chrono::nanoseconds span);

std::string granted_text(const Granted& granted, const Output& out);
// `done`, `already`: what it says of a lease that was changed, and of one that needed no change.
std::string outcome_text(const Outcome& outcome, std::string_view done, std::string_view already,
                         const Output& out);
std::string board_text(const Board& board, const Output& out);

// Rows of cells under titles, each column as wide as its widest cell. Cells may contain colours.
std::string table_text(std::span<const std::string_view> titles,
                       std::span<const std::vector<std::string>> rows, const Output& out);

}  // namespace leasehold
