#include "store/json/records_json.h"

#include <boost/json.hpp>

namespace leasehold {
namespace {

namespace json = boost::json;

// Thrown by what is not as it should be; never leaves this file.
struct Malformed {};

template <class T>
T as(const json::value& value) {
  const auto result = json::try_value_to<T>(value);
  if (!result) throw Malformed();
  return *result;
}

// Reads fields of an object, those that are there.
class Fields {
 public:
  explicit Fields(const json::value& value) {
    if (!value.is_object()) throw Malformed();
    object_ = &value.get_object();
  }

  const json::value* find(std::string_view name) const { return object_->if_contains(name); }

  template <class T>
  void get(std::string_view name, T& to) const {
    if (const json::value* value = find(name)) to = as<T>(*value);
  }

  void get(std::string_view name, std::optional<int>& to) const {
    if (const json::value* value = find(name)) to = as<int>(*value);
  }

  void get(std::string_view name, Time& to) const {
    if (const json::value* value = find(name)) to = Time(Time::duration(as<std::int64_t>(*value)));
  }

  void get(std::string_view name, std::optional<Time>& to) const {
    if (find(name) != nullptr) get(name, to.emplace());
  }

  template <class Enum>
  void get_word(std::string_view name, Enum& to) const {
    const json::value* value = find(name);
    if (value == nullptr) return;
    const auto known = from_word<Enum>(as<std::string>(*value));
    if (!known) throw Malformed();
    to = *known;
  }

  void get(std::string_view name, std::optional<Duration>& to) const {
    if (const json::value* value = find(name)) to = Duration(as<std::int64_t>(*value));
  }

 private:
  const json::object* object_;
};

// What has its default is left out: most of a request is.
template <class T>
void put(json::object& object, std::string_view name, const T& value, const T& otherwise = {}) {
  if (value != otherwise) object[name] = json::value_from(value);
}

void put(json::object& object, std::string_view name, const std::optional<Duration>& value) {
  if (value) object[name] = value->count();
}

json::object to_object(const Process& process) {
  return {{"machine_id", process.machine_id},
          {"boot_id", process.boot_id},
          {"pid_namespace", process.pid_namespace},
          {"pid", process.pid},
          {"start_time", process.start_time}};
}

Process process_from(const json::value& value) {
  const Fields fields(value);
  Process process;
  fields.get("machine_id", process.machine_id);
  fields.get("boot_id", process.boot_id);
  fields.get("pid_namespace", process.pid_namespace);
  fields.get("pid", process.pid);
  fields.get("start_time", process.start_time);
  return process;
}

json::object to_object(const Holder& holder) {
  json::object object;
  put(object, "agent_id", holder.owner.agent_id);
  put(object, "session_id", holder.owner.session_id);
  put(object, "pr_id", holder.pr_id);
  put(object, "host", holder.host);
  if (holder.process) object["process"] = to_object(*holder.process);
  return object;
}

Holder holder_from(const json::value& value) {
  const Fields fields(value);
  Holder holder;
  fields.get("agent_id", holder.owner.agent_id);
  fields.get("session_id", holder.owner.session_id);
  fields.get("pr_id", holder.pr_id);
  fields.get("host", holder.host);
  if (const json::value* process = fields.find("process")) holder.process = process_from(*process);
  return holder;
}

json::object to_object(const WantedPath& wanted) {
  json::object object = {{"path", wanted.path}};
  put(object, "subtree", wanted.subtree);
  put(object, "requested", wanted.requested, true);
  put(object, "paired_with", wanted.paired_with);
  put(object, "rule", wanted.rule);
  return object;
}

WantedPath wanted_from(const json::value& value) {
  const Fields fields(value);
  WantedPath wanted;
  fields.get("path", wanted.path);
  fields.get("subtree", wanted.subtree);
  fields.get("requested", wanted.requested);
  fields.get("paired_with", wanted.paired_with);
  fields.get("rule", wanted.rule);
  return wanted;
}

json::object to_object(const AcquireRequest& request) {
  json::object object = {{"holder", to_object(request.caller.holder)}};
  put(object, "whole_session", request.caller.whole_session);
  json::array paths;
  for (const WantedPath& wanted : request.paths) paths.push_back(to_object(wanted));
  object["paths"] = std::move(paths);
  object["mode"] = word(request.mode);
  put(object, "ttl_ms", request.ttl);
  if (request.max_renewals) object["max_renewals"] = *request.max_renewals;
  put(object, "wait_ms", request.wait);
  put(object, "priority", request.priority);
  put(object, "attended", request.attended);
  put(object, "reason", request.reason);
  put(object, "room", request.room);
  put(object, "trace", request.trace);
  put(object, "idempotency_key", request.idempotency_key);
  return object;
}

AcquireRequest request_from(const json::value& value) {
  const Fields fields(value);
  AcquireRequest request;
  if (const json::value* holder = fields.find("holder")) request.caller.holder = holder_from(*holder);
  fields.get("whole_session", request.caller.whole_session);
  if (const json::value* paths = fields.find("paths")) {
    if (!paths->is_array()) throw Malformed();
    for (const json::value& path : paths->get_array()) request.paths.push_back(wanted_from(path));
  }
  fields.get_word("mode", request.mode);
  fields.get("ttl_ms", request.ttl);
  fields.get("max_renewals", request.max_renewals);
  fields.get("wait_ms", request.wait);
  fields.get("priority", request.priority);
  fields.get("attended", request.attended);
  fields.get("reason", request.reason);
  fields.get("room", request.room);
  fields.get("trace", request.trace);
  fields.get("idempotency_key", request.idempotency_key);
  return request;
}

std::int64_t nanoseconds(Time time) { return time.time_since_epoch().count(); }

json::object to_object(const Blocked& blocked) {
  json::object object = {{"path", blocked.path},
                         {"holder", to_object(blocked.holder)},
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
  fields.get("first_denied_ns", contention.first_denied_at);
  fields.get("retry_ns", contention.retry_at);
  fields.get("retried_ns", contention.retried_at);
  if (const json::value* blocked = fields.find("in_the_way")) contention.in_the_way = blocked_from(*blocked);
  fields.get("drop_ns", contention.drop_at);
  return contention;
}

// Total: whatever stands there, the answer is a value or nothing.
template <class T, class Read>
std::optional<T> parse(std::string_view text, const Read& read) {
  // Most of what is parsed fits here, and then costs no allocation.
  unsigned char buffer[4096];
  json::monotonic_resource memory(buffer);
  boost::system::error_code error;
  const json::value value = json::parse(text, error, &memory);
  if (error) return std::nullopt;
  try {
    return read(value);
  } catch (const Malformed&) {
    return std::nullopt;
  }
}

}  // namespace

std::string to_json(const Contention& contention) {
  json::object object = {{"id", contention.id},
                         {"path", contention.path},
                         {"wanted", to_object(contention.wanted)},
                         {"state", word(contention.state)},
                         {"first_denied_ns", nanoseconds(contention.first_denied_at)},
                         {"retry_ns", nanoseconds(contention.retry_at)},
                         {"in_the_way", to_object(contention.in_the_way)},
                         {"drop_ns", nanoseconds(contention.drop_at)}};
  put(object, "may_retry", contention.may_retry);
  if (contention.retried_at) object["retried_ns"] = nanoseconds(*contention.retried_at);
  return json::serialize(object);
}

std::string to_json(const AcquireRequest& request) { return json::serialize(to_object(request)); }

std::string to_json(const std::vector<std::string>& texts) {
  return json::serialize(json::value_from(texts));
}

std::optional<AcquireRequest> request_from_json(std::string_view text) {
  return parse<AcquireRequest>(text, request_from);
}

std::optional<Contention> contention_from_json(std::string_view text) {
  return parse<Contention>(text, contention_from);
}

std::optional<std::vector<std::string>> texts_from_json(std::string_view text) {
  return parse<std::vector<std::string>>(text, as<std::vector<std::string>>);
}

}  // namespace leasehold
