// What commands with the same kind of answer have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/call.h"

namespace leasehold {

inline constexpr OptionSpec kNullOption = {
    "-0,--null", {}, "What \"-\" lists on standard input ends with NUL instead of line ends"};

inline constexpr OptionSpec kConflictExitOption = {
    "-E,--conflict-exit-code", "N", "Exit with N when somebody is in the way or the wait was in vain"};

// How leases are named in calls about some of one's own; selection() reads these.
inline constexpr OptionSpec kIdOption = {"--id", "ID", "The lease of this id", {}, true};
inline constexpr OptionSpec kAllOption = {"--all", {}, "All that you hold"};
inline constexpr OptionSpec kPrOption = {"--pr", "ID", "All that you hold for this pull request"};
inline constexpr OptionSpec kTokenOption = {"--token", "N", "Only if this is still the token of the grant"};

// Notices, each in a line of standard error.
void tell(const Output& out, const std::vector<Notice>& notices);

// Grants and refusals. Returns the exit status.
Result<int> answer(Call& call, const AcquireRequest& request, AcquireAnswer answer);

// Calls about several leases; `done` says in a word what became of each, `already` what was so before. The
// exit status is that of the first that failed.
Result<int> answer(Call& call, const Outcomes& outcomes, std::string_view done,
                   std::string_view already = "ended before");

// A renewal of all that somebody holds, whose caller goes on only if all of it is there still: `lost` also
// for what was gone before, and not_found if nothing is held.
Result<int> answer_heartbeat(Call& call, const Outcomes& outcomes);

// Asks about a long list in pieces that one call may name: nothing here has to be one step.
Result<Outcomes> in_pieces(Selection which, const std::function<Result<Outcomes>(Selection)>& ask);

// --id, --all, --pr or the operands. Errors: invalid_argument (none, or two ways at once).
Result<Selection> selection(Call& call);

Result<std::optional<Token>> token(const Arguments& arguments);

}  // namespace leasehold
