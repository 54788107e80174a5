#include "store/json/fields.h"
#include "store/json/records_json.h"

namespace leasehold {

using namespace fields;

namespace {

std::int64_t nanoseconds(Time time) { return time.time_since_epoch().count(); }

json::object to_object(const Blocked& blocked) {
  json::object object = {{"path", blocked.path},
                         {"holder", fields::to_object(blocked.holder)},
                         {"held_path", blocked.held_path},
                         {"mode", word(blocked.mode)},
                         {"lease_id", blocked.lease_id.text},
                         {"acquired_ns", nanoseconds(blocked.acquired_at)},
                         {"heartbeat_ns", nanoseconds(blocked.last_heartbeat_at)},
                         {"expires_ns", nanoseconds(blocked.expires_at)},
                         {"liveness", word(blocked.verdict.liveness)},
                         {"evidence", blocked.verdict.evidence}};
  put(object, "waits", blocked.waits);
  put(object, "subtree", blocked.subtree);
  put(object, "reason", blocked.reason);
  put(object, "waiters_ahead", blocked.waiters_ahead);
  return object;
}

Blocked blocked_from(const json::value& value) {
  const Fields fields(value);
  Blocked blocked;
  fields.get("path", blocked.path);
  if (const json::value* holder = fields.find("holder")) blocked.holder = holder_from(*holder);
  fields.get("held_path", blocked.held_path);
  fields.get_word("mode", blocked.mode);
  fields.get("lease_id", blocked.lease_id.text);
  fields.get("acquired_ns", blocked.acquired_at);
  fields.get("heartbeat_ns", blocked.last_heartbeat_at);
  fields.get("expires_ns", blocked.expires_at);
  fields.get_word("liveness", blocked.verdict.liveness);
  fields.get("evidence", blocked.verdict.evidence);
  fields.get("waits", blocked.waits);
  fields.get("subtree", blocked.subtree);
  fields.get("reason", blocked.reason);
  fields.get("waiters_ahead", blocked.waiters_ahead);
  return blocked;
}

Contention contention_from(const json::value& value) {
  const Fields fields(value);
  Contention contention;
  fields.get("id", contention.id);
  fields.get("path", contention.path);
  if (const json::value* wanted = fields.find("wanted")) contention.wanted = request_from(*wanted);
  fields.get_word("state", contention.state);
  fields.get("may_retry", contention.may_retry);
  fields.get("instructed_by", contention.instructed_by);
  fields.get("instruction_reason", contention.instruction_reason);
  fields.get("first_denied_ns", contention.first_denied_at);
  fields.get("retry_ns", contention.retry_at);
  fields.get("retried_ns", contention.retried_at);
  if (const json::value* blocked = fields.find("in_the_way")) contention.in_the_way = blocked_from(*blocked);
  fields.get("drop_ns", contention.drop_at);
  return contention;
}

}  // namespace

std::string to_json(const Contention& contention) {
  json::object object = {{"id", contention.id},
                         {"path", contention.path},
                         {"wanted", fields::to_object(contention.wanted)},
                         {"state", word(contention.state)},
                         {"first_denied_ns", nanoseconds(contention.first_denied_at)},
                         {"retry_ns", nanoseconds(contention.retry_at)},
                         {"in_the_way", leasehold::to_object(contention.in_the_way)},
                         {"drop_ns", nanoseconds(contention.drop_at)}};
  put(object, "may_retry", contention.may_retry);
  put(object, "instructed_by", contention.instructed_by);
  put(object, "instruction_reason", contention.instruction_reason);
  if (contention.retried_at) object["retried_ns"] = nanoseconds(*contention.retried_at);
  return json::serialize(object);
}

std::optional<Contention> contention_from_json(std::string_view text) {
  return parse<Contention>(text, contention_from);
}

}  // namespace leasehold
