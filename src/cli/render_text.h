// Answers as text for people. Whatever somebody else may have written is made safe for a terminal.
#pragma once

#include <span>
#include <string>

#include "cli/output.h"
#include "leasehold/calls.h"

namespace leasehold {

// Two units at most: 4m59s, 1d2h, 250ms.
std::string span_text(std::chrono::nanoseconds span);

// A name, or a folder with all below it: /docs/**.
std::string scope_text(const std::string& path, bool subtree);

std::string granted_text(const Granted& granted, const Output& out);
// `done`, `already`: what it says of a lease that was changed, and of one that needed no change.
std::string outcome_text(const Outcome& outcome, std::string_view done, std::string_view already,
                         const Output& out);
std::string notice_text(const Notice& notice);
std::string board_text(const Board& board, const Output& out);

// Rows of cells under titles, each column as wide as its widest cell. Cells may contain colours.
std::string table_text(std::span<const std::string_view> titles,
                       std::span<const std::vector<std::string>> rows, const Output& out);

}  // namespace leasehold
