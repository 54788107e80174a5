#include "wire/gate_json.h"

#include <boost/json/array.hpp>

#include "wire/answer_json.h"
#include "wire/request_json.h"

namespace leasehold {
namespace {

namespace json = boost::json;

json::object holder_json(const Holder& holder) {
  json::object object = {{"agent_id", holder.owner.agent_id}, {"session_id", holder.owner.session_id}};
  if (!holder.pr_id.empty()) object["pr_id"] = holder.pr_id;
  if (!holder.host.empty()) object["host"] = holder.host;
  if (holder.process) object["pid"] = holder.process->pid;
  return object;
}

std::string_view what_to_do(const Contention& contention) {
  switch (contention.state) {
    case ContentionState::scheduled:
      return "Do other work; try the same write once more at retry_at, not earlier.";
    case ContentionState::halted:
      return "Stop this work, report it, and wait until an operator decides.";
    case ContentionState::abandoned:
      return "Leave the file alone for the rest of the session.";
  }
  return {};
}

template <class Duration>
std::int64_t seconds(Duration duration) {
  return std::chrono::round<std::chrono::seconds>(duration).count();
}

}  // namespace

json::object contention_json(const Contention& contention, const Moment& at, Detail detail) {
  const Blocked& blocked = contention.in_the_way;
  json::object object = {
      {"kind", contention.state == ContentionState::scheduled ? "contention_heartbeat" : "blocker"},
      {"id", contention.id},
      {"file", contention.path},
      {"state", word(contention.state)},
      {"worker", holder_json(contention.wanted.caller.holder)},
      {"owner", holder_json(blocked.holder)},
      {"lease_id", blocked.lease_id.text},
      {"lease_state", blocked.waits ? "pending" : "active"},
      {"mode", word(blocked.mode)},
      {"liveness", verdict_json(blocked.verdict)},
      {"age_seconds", seconds(at.now - blocked.acquired_at)},
      {"retry_after_seconds", seconds(contention.retry_at - contention.first_denied_at)},
      {"what_to_do", what_to_do(contention)}};
  add_time(object, "acquired_at", blocked.acquired_at, at);
  add_time(object, "last_heartbeat_at", blocked.last_heartbeat_at, at);
  add_time(object, "expires_at", blocked.expires_at, at);
  add_time(object, "first_denied_at", contention.first_denied_at, at);
  add_time(object, "retry_at", contention.retry_at, at);
  if (contention.retried_at) add_time(object, "retried_at", *contention.retried_at, at);
  if (!contention.instructed_by.empty()) {
    object["instructed_by"] = contention.instructed_by;
    object["instruction_reason"] = contention.instruction_reason;
  }
  if (detail == Detail::all) {
    object["wanted"] = request_json(contention.wanted);
    object["in_the_way"] = blocked_json(std::span(&blocked, 1), at).front();
    object["may_retry"] = contention.may_retry;
  }
  return object;
}

json::object gate_json(const GateAnswer& answer, Detail detail) {
  const Moment at = {answer.at, answer.wall};
  json::object object;
  if (const auto* denied = std::get_if<Denied>(&answer.decision)) {
    object = {{"decision", "denied"}, {"code", info(denied->code).name}, {"message", denied->message}};
    json::array contentions;
    for (const Contention& one : denied->contentions) contentions.push_back(contention_json(one, at, detail));
    object["contentions"] = std::move(contentions);
    object["blocked"] = blocked_json(denied->blocked, at);
    if (denied->more_blocked > 0) object["more_blocked"] = denied->more_blocked;
    if (denied->code == Code::retry_later) add_time(object, "retry_at", denied->retry_at, at);
  } else {
    const auto& allowed = std::get<Allowed>(answer.decision);
    object["decision"] = allowed.granted ? "granted" : "allowed";
    json::array leases;
    for (const Lease& lease : allowed.leases) leases.push_back(lease_json(lease, at));
    object["leases"] = std::move(leases);
  }
  object["notices"] = notices_json(answer.notices);
  return object;
}

json::object blockers_json(const Blockers& blockers, Detail detail) {
  const Moment at = {blockers.at, blockers.wall};
  json::array list;
  for (const Blocker& one : blockers.blockers) {
    json::object object = contention_json(one.contention, at, detail);
    object["worker_liveness"] = verdict_json(one.worker);
    object["blocked"] = blocked_json(one.blocked, at);
    list.push_back(std::move(object));
  }
  return {{"blockers", std::move(list)}};
}

}  // namespace leasehold
