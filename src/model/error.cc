#include "leasehold/error.h"

#include <array>

namespace leasehold {
namespace {

// Exit codes are documented and scripted against; never renumber.
constexpr std::array kCodes = {
    CodeInfo{Code::busy, "busy", 409, 75},
    CodeInfo{Code::timeout, "timeout", 408, 124},
    CodeInfo{Code::deadlock, "deadlock", 409, 75},
    CodeInfo{Code::rate_limited, "rate_limited", 429, 75},
    CodeInfo{Code::limit_exceeded, "limit_exceeded", 422, 65},
    CodeInfo{Code::not_found, "not_found", 404, 66},
    CodeInfo{Code::not_owner, "not_owner", 403, 77},
    CodeInfo{Code::max_renewals_exceeded, "max_renewals_exceeded", 409, 77},
    CodeInfo{Code::lost, "lost", 410, 79},
    CodeInfo{Code::transferred, "transferred", 410, 79},
    CodeInfo{Code::stale_token, "stale_token", 412, 77},
    CodeInfo{Code::retry_later, "retry_later", 409, 75},
    CodeInfo{Code::halted, "halted", 423, 80},
    CodeInfo{Code::locked, "locked", 423, 75},
    CodeInfo{Code::transaction_conflict, "transaction_conflict", 503, 75},
    CodeInfo{Code::invalid_argument, "invalid_argument", 400, 64},
    CodeInfo{Code::invalid_path, "invalid_path", 400, 64},
    CodeInfo{Code::invalid_session, "invalid_session", 400, 64},
    CodeInfo{Code::config_error, "config_error", 500, 78},
    CodeInfo{Code::unavailable, "unavailable", 503, 69},
    CodeInfo{Code::outcome_unknown, "outcome_unknown", 504, 69},
    CodeInfo{Code::corrupt, "corrupt", 500, 74},
};

constexpr bool in_order_of_the_enum() {
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (static_cast<std::size_t>(kCodes[i].code) != i) return false;
  }
  return static_cast<std::size_t>(Code::corrupt) + 1 == kCodes.size();
}
static_assert(in_order_of_the_enum());

}  // namespace

std::span<const CodeInfo> code_table() { return kCodes; }

const CodeInfo& info(Code code) { return kCodes[static_cast<std::size_t>(code)]; }

std::optional<Code> code_named(std::string_view name) {
  for (const CodeInfo& row : kCodes) {
    if (row.name == name) return row.code;
  }
  return std::nullopt;
}

}  // namespace leasehold
