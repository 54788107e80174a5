// The board as several commands look at it.
#pragma once

#include "cli/call.h"

namespace leasehold {

inline constexpr OptionSpec kBoardAgentOption = {"--agent", "NAME",
                                                 "Only what this agent holds or waits for"};
inline constexpr OptionSpec kBoardSessionOption = {"--session", "ID", "Only what belongs to this session"};
inline constexpr OptionSpec kBoardPrOption = {"--pr", "ID", "Only what is for this pull request"};

// Which part of the board is asked for. Opens the workspace. Errors: those of the workspace.
Result<Listing> listing(Call& call);

// Whether that part has to do with an event.
bool concerns(const Event& event, const Listing& listing);

// The board as it was, told again from history: without what history does not tell (when leases would end,
// and whether their owners lived). Errors: those of the workspace.
Result<Board> board_at(Call& call, WallTime at);

// Empty where nothing was ever leased: that is an answer.
Result<Board> look_at_board(Call& call);

}  // namespace leasehold
