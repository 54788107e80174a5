#include "wire/people_json.h"

#include <boost/json/array.hpp>

#include "util/rfc3339.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

using boost::json::array;
using boost::json::object;

object path_json(const SessionPath& path) {
  object row = {{"path", path.path}, {"subtree", path.subtree}, {"mode", word(path.mode)}};
  if (path.drop_at) row["drop_at"] = to_rfc3339(*path.drop_at);
  return row;
}

object session_of(const std::string& id, array paths, const std::vector<std::string>& invalid) {
  return {
      {"session_id", id}, {"paths", std::move(paths)}, {"invalid", array(invalid.begin(), invalid.end())}};
}

}  // namespace

std::map<Owner, PresentAgent> agents_on(const Board& board) {
  std::map<Owner, PresentAgent> agents;
  for (const BoardRow& row : board.rows) {
    if (!row.live) continue;
    PresentAgent& agent = agents[row.lease.holder.owner];
    (row.lease.status == Status::active ? agent.holds : agent.waits) += 1;
    if (row.lease.last_heartbeat_at < agent.last_heartbeat_at) continue;
    agent.holder = row.lease.holder;
    agent.last_heartbeat_at = row.lease.last_heartbeat_at;
    agent.verdict = row.verdict;
  }
  return agents;
}

object agents_json(const Board& board) {
  array all;
  for (const auto& [owner, agent] : agents_on(board)) {
    object row = {{"agent_id", owner.agent_id}, {"session_id", owner.session_id},
                  {"host", agent.holder.host},  {"holds", agent.holds},
                  {"waits", agent.waits},       {"verdict", verdict_json(agent.verdict)}};
    add_time(row, "last_heartbeat_at", agent.last_heartbeat_at, {board.now, board.wall});
    all.push_back(std::move(row));
  }
  return {{"agents", std::move(all)}};
}

object session_json(const std::string& session_id, const SessionPaths& found) {
  array paths;
  for (const SessionPath& path : found.paths) paths.push_back(path_json(path));
  return session_of(session_id, std::move(paths), found.invalid);
}

object restored_json(const std::string& session_id, const RestoredSession& restored, const Moment& at) {
  array paths;
  for (const RestoredPath& one : restored.paths) {
    object row = path_json(one.path);
    row["answer"] = one.answer ? acquire_json(*one.answer, at)
                               : object{{"decision", "failed"}, {"error", error_json(one.answer.error())}};
    paths.push_back(std::move(row));
  }
  return session_of(session_id, std::move(paths), restored.invalid);
}

}  // namespace leasehold
