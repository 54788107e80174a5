// Answers as JSON. Field names are the glossary's words in snake_case; they are stable. Each time stands
// twice: acquired_at (RFC 3339, UTC) and acquired_at_ms (milliseconds since 1970).
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <span>

#include "leasehold/calls.h"
#include "wire/moment.h"

namespace leasehold {

boost::json::object error_json(const Error& error);
boost::json::object lease_json(const Lease& lease, const Moment& at);
boost::json::object verdict_json(const Verdict& verdict);
boost::json::array blocked_json(std::span<const Blocked> blocked, const Moment& at);
boost::json::array notices_json(std::span<const Notice> notices);
boost::json::object event_json(const Event& event);

boost::json::object acquire_json(const AcquireAnswer& answer, const Moment& at);
boost::json::object outcomes_json(const Outcomes& outcomes, const Moment& at);
boost::json::object check_json(const CheckAnswer& answer, const Moment& at);
boost::json::object row_json(const BoardRow& row, const Moment& at);
boost::json::object board_json(const Board& board);

// A moment of the store's; kForever is null.
void add_time(boost::json::object& object, std::string_view name, Time then, const Moment& at);
void add_wall(boost::json::object& object, std::string_view name, WallTime at);

}  // namespace leasehold
