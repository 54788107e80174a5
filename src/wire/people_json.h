// Who is there, and what a session had, as JSON: the same from the command line and the API.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>

#include "leasehold/client.h"
#include "wire/moment.h"

namespace leasehold {

// One owner on a board, by all that it holds or waits for.
struct PresentAgent {
  std::size_t holds = 0;
  std::size_t waits = 0;
  // Of what was heard of last:
  Holder holder;
  Time last_heartbeat_at;
  Verdict verdict;
};
std::map<Owner, PresentAgent> agents_on(const Board& board);
boost::json::object agents_json(const Board& board);

boost::json::object session_json(const std::string& session_id, const SessionPaths& found);
boost::json::object restored_json(const std::string& session_id, const RestoredSession& restored,
                                  const Moment& at);

}  // namespace leasehold
