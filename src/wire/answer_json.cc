#include "wire/answer_json.h"

#include "util/rfc3339.h"
#include "wire/parts.h"

namespace leasehold {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

void add_holder(object& object, const Holder& holder) {
  object["agent_id"] = holder.owner.agent_id;
  object["session_id"] = holder.owner.session_id;
  object["pr_id"] = holder.pr_id;
  object["host"] = holder.host;
  object["process"] = wire::process_json(holder.process);
}

array texts_json(std::span<const std::string> texts) { return array(texts.begin(), texts.end()); }

template <class Enum>
value word_or_null(const std::optional<Enum>& value) {
  if (!value) return nullptr;
  return boost::json::value(word(*value));
}

array leases_json(std::span<const Lease> leases, const Moment& at) {
  array all;
  for (const Lease& lease : leases) all.push_back(lease_json(lease, at));
  return all;
}

void add_refusal(object& object, const Refused& refused, const Moment& at) {
  object["decision"] = "refused";
  object["error"] = error_json({refused.code, refused.message});
  object["blocked"] = blocked_json(refused.blocked, at);
  if (refused.more_blocked > 0) object["more_blocked"] = refused.more_blocked;
  object["waited_ms"] = refused.waited.count();
  if (!refused.next_command.empty()) object["next_command"] = refused.next_command;
  if (refused.retry_after) object["retry_after_ms"] = refused.retry_after->count();
}

}  // namespace

void add_wall(object& object, std::string_view name, WallTime at) {
  object[name] = to_rfc3339(at);
  object[std::string(name) + "_ms"] =
      std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

void add_time(object& object, std::string_view name, Time then, const Moment& at) {
  if (then == kForever) {
    object[name] = nullptr;
    object[std::string(name) + "_ms"] = nullptr;
  } else {
    add_wall(object, name, wall_time(then, at.now, at.wall));
  }
}

object error_json(const Error& error) {
  return {
      {"code", info(error.code).name}, {"message", error.message}, {"exit_code", info(error.code).exit_code}};
}

object verdict_json(const Verdict& verdict) {
  return {{"liveness", word(verdict.liveness)}, {"evidence", verdict.evidence}};
}

// All of them, and what a board adds: growing by and by takes longer than filling in.
constexpr std::size_t kMembersOfALease = 48;

object lease_json(const Lease& lease, const Moment& at) {
  const bool was_granted = lease.token.value != 0;
  object result;
  result.reserve(kMembersOfALease);
  result["id"] = lease.id.text;
  result["workspace"] = lease.workspace;
  result["path"] = lease.path;
  result["subtree"] = lease.subtree;
  result["mode"] = word(lease.mode);
  result["status"] = word(lease.status);
  result["token"] = lease.token.value;
  result["ended_by"] = lease.ended_by == EndCause::none ? value(nullptr) : value(word(lease.ended_by));
  add_holder(result, lease.holder);
  add_time(result, "created_at", lease.created_at, at);
  add_time(result, "acquired_at", was_granted ? lease.acquired_at : kForever, at);
  add_time(result, "expires_at", lease.expires_at, at);
  add_time(result, "last_heartbeat_at", lease.last_heartbeat_at, at);
  add_time(result, "updated_at", lease.updated_at, at);
  add_time(result, "idle_at", lease.idle_at.value_or(kForever), at);
  add_time(result, "recalled_at", lease.recalled_at.value_or(kForever), at);
  result["ttl_ms"] = lease.ttl.count();
  result["renewal_count"] = lease.renewal_count;
  result["max_renewals"] = lease.max_renewals;
  result["group_id"] = lease.group_id.text;
  result["room"] = lease.room;
  result["reason"] = lease.reason;
  result["trace"] = lease.trace;
  result["requested"] = lease.requested;
  result["paired_with"] = texts_json(lease.paired_with);
  result["pairs"] = texts_json(lease.pairs);
  result["rule"] = lease.rule;
  result["attended"] = lease.attended;
  return result;
}

array blocked_json(std::span<const Blocked> blocked, const Moment& at) {
  array all;
  for (const Blocked& one : blocked) {
    object row = {{"path", one.path},       {"waits", one.waits},     {"held_path", one.held_path},
                  {"subtree", one.subtree}, {"mode", word(one.mode)}, {"lease_id", one.lease_id.text}};
    add_holder(row, one.holder);
    row["reason"] = one.reason;
    add_time(row, "acquired_at", one.acquired_at, at);
    add_time(row, "last_heartbeat_at", one.last_heartbeat_at, at);
    add_time(row, "expires_at", one.expires_at, at);
    row["verdict"] = verdict_json(one.verdict);
    row["waiters_ahead"] = one.waiters_ahead;
    all.push_back(std::move(row));
  }
  return all;
}

array notices_json(std::span<const Notice> notices) {
  array all;
  for (const Notice& notice : notices) {
    object row = {{"id", notice.id},
                  {"cause", word(notice.cause)},
                  {"received", notice.received},
                  {"agent_id", notice.owner.agent_id},
                  {"session_id", notice.owner.session_id},
                  {"lease_id", notice.lease_id.text},
                  {"path", notice.path},
                  {"subtree", notice.subtree},
                  {"token", notice.token.value},
                  {"actor", notice.actor},
                  {"reason", notice.reason}};
    add_wall(row, "at", notice.wall);
    all.push_back(std::move(row));
  }
  return all;
}

object event_json(const Event& event) {
  object row = {{"sequence", event.sequence}, {"type", word(event.type)}};
  add_wall(row, "at", event.wall);
  // What all leases of an owner have in common is told once: it is about none of them.
  const bool is_of_many = event.path.empty();
  const auto of_one = [&](auto&& it) { return is_of_many ? value(nullptr) : value(it); };
  row["lease_id"] = of_one(event.lease_id.text);
  row["group_id"] = of_one(event.group_id.text);
  row["agent_id"] = event.owner.agent_id;
  row["session_id"] = event.owner.session_id;
  row["pr_id"] = event.pr_id;
  row["path"] = of_one(event.path);
  row["subtree"] = of_one(event.subtree);
  row["mode"] = of_one(word(event.mode));
  row["token"] = of_one(event.token.value);
  row["status_before"] = word_or_null(event.status_before);
  row["status_after"] = word_or_null(event.status_after);
  row["cause"] = event.cause == EndCause::none ? value(nullptr) : value(word(event.cause));
  row["renewal_count"] = event.renewal_count;
  row["count"] = event.count;
  row["actor"] = event.actor;
  row["reason"] = event.reason;
  row["trace"] = event.trace;
  return row;
}

object acquire_json(const AcquireAnswer& answer, const Moment& at) {
  object result;
  if (const auto* granted = std::get_if<Granted>(&answer.decision)) {
    result = {{"decision", "granted"},
              {"group_id", granted->group_id.text},
              {"leases", leases_json(granted->leases, at)},
              {"ttl_clamped", granted->ttl_clamped},
              {"replayed", granted->replayed},
              {"waited_ms", granted->waited.count()}};
  } else if (const auto* refused = std::get_if<Refused>(&answer.decision)) {
    add_refusal(result, *refused, at);
  } else if (const auto* queued = std::get_if<Queued>(&answer.decision)) {
    result = {{"decision", "queued"},
              {"ticket", queued->ticket.text},
              {"position", queued->position},
              {"blocked", blocked_json(queued->blocked, at)}};
    if (queued->more_blocked > 0) result["more_blocked"] = queued->more_blocked;
    if (queued->replayed) result["replayed"] = true;
    add_time(result, "at", queued->at, at);
    add_time(result, "wait_until", queued->wait_until, at);
  }
  result["notices"] = notices_json(answer.notices);
  return result;
}

object outcomes_json(const Outcomes& outcomes, const Moment& at) {
  array all;
  for (const Outcome& outcome : outcomes.outcomes) {
    all.push_back(object{{"path", outcome.path},
                         {"done", !outcome.error},
                         {"already", outcome.already},
                         {"ttl_clamped", outcome.ttl_clamped},
                         {"error", outcome.error ? value(error_json(*outcome.error)) : value(nullptr)},
                         {"lease", outcome.lease ? value(lease_json(*outcome.lease, at)) : value(nullptr)}});
  }
  return {{"outcomes", std::move(all)}, {"notices", notices_json(outcomes.notices)}};
}

object check_json(const CheckAnswer& answer, const Moment& at) {
  return {{"current", answer.current},
          {"error", answer.error ? value(error_json(*answer.error)) : value(nullptr)},
          {"holders", leases_json(answer.holders, at)},
          {"notices", notices_json(answer.notices)}};
}

object row_json(const BoardRow& row, const Moment& at) {
  object lease = lease_json(row.lease, at);
  lease["verdict"] = verdict_json(row.verdict);
  lease["live"] = row.live;
  return lease;
}

object board_json(const Board& board) {
  object result;
  add_wall(result, "at", board.wall);
  array rows;
  for (const BoardRow& row : board.rows) rows.push_back(row_json(row, {board.now, board.wall}));
  result["leases"] = std::move(rows);
  return result;
}

}  // namespace leasehold
