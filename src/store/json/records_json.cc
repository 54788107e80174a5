#include "store/json/records_json.h"

#include "store/json/fields.h"

namespace leasehold {

using namespace fields;

namespace {

json::object to_object(const Process& process, json::storage_ptr memory = {}) {
  return json::object({{"machine_id", process.machine_id},
                       {"boot_id", process.boot_id},
                       {"pid_namespace", process.pid_namespace},
                       {"pid", process.pid},
                       {"start_time", process.start_time}},
                      std::move(memory));
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

}  // namespace

json::object fields::to_object(const Holder& holder, json::storage_ptr memory) {
  json::object object(std::move(memory));
  put(object, "agent_id", holder.owner.agent_id);
  put(object, "session_id", holder.owner.session_id);
  put(object, "pr_id", holder.pr_id);
  put(object, "host", holder.host);
  if (holder.process) object["process"] = leasehold::to_object(*holder.process, object.storage());
  return object;
}

Holder fields::holder_from(const json::value& value) {
  const Fields fields(value);
  Holder holder;
  fields.get("agent_id", holder.owner.agent_id);
  fields.get("session_id", holder.owner.session_id);
  fields.get("pr_id", holder.pr_id);
  fields.get("host", holder.host);
  if (const json::value* process = fields.find("process")) holder.process = process_from(*process);
  return holder;
}

namespace {

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

}  // namespace

AcquireRequest fields::request_from(const json::value& value) {
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
  if (const json::value* waiter = fields.find("waiter")) request.waiter = process_from(*waiter);
  fields.get("priority", request.priority);
  fields.get("attended", request.attended);
  fields.get("reason", request.reason);
  fields.get("room", request.room);
  fields.get("trace", request.trace);
  fields.get("idempotency_key", request.idempotency_key);
  return request;
}

json::object fields::to_object(const AcquireRequest& request) {
  json::object object = {{"holder", fields::to_object(request.caller.holder)}};
  put(object, "whole_session", request.caller.whole_session);
  json::array paths;
  for (const WantedPath& wanted : request.paths) paths.push_back(leasehold::to_object(wanted));
  object["paths"] = std::move(paths);
  object["mode"] = word(request.mode);
  put(object, "ttl_ms", request.ttl);
  if (request.max_renewals) object["max_renewals"] = *request.max_renewals;
  put(object, "wait_ms", request.wait);
  if (request.waiter) object["waiter"] = leasehold::to_object(*request.waiter);
  put(object, "priority", request.priority);
  put(object, "attended", request.attended);
  put(object, "reason", request.reason);
  put(object, "room", request.room);
  put(object, "trace", request.trace);
  put(object, "idempotency_key", request.idempotency_key);
  return object;
}

std::string to_json(const AcquireRequest& request) { return json::serialize(fields::to_object(request)); }

std::string to_json(const std::vector<std::string>& texts) {
  return json::serialize(json::value_from(texts));
}

std::optional<AcquireRequest> request_from_json(std::string_view text) {
  return parse<AcquireRequest>(text, request_from);
}

std::optional<std::vector<std::string>> texts_from_json(std::string_view text) {
  return parse<std::vector<std::string>>(text, as<std::vector<std::string>>);
}

}  // namespace leasehold
