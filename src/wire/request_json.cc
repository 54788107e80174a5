#include "wire/request_json.h"

#include <boost/json/array.hpp>

#include "util/rfc3339.h"
#include "wire/parts.h"
#include "wire/reader.h"

namespace leasehold {

using wire::Reader;
using wire::reading;
namespace json = boost::json;

namespace {

template <class T>
void put(json::object& object, std::string_view name, const T& value, const T& otherwise = {}) {
  if (value != otherwise) object[name] = json::value_from(value);
}

void put(json::object& object, std::string_view name, const std::optional<Duration>& value) {
  if (value) object[name] = value->count();
}

void put(json::object& object, std::string_view name, const std::optional<Token>& token) {
  if (token) object[name] = token->value;
}

void put(json::object& object, std::string_view name, const std::optional<std::string>& text) {
  if (text) object[name] = *text;
}

void put(json::object& object, const Holder& holder) {
  put(object, "agent_id", holder.owner.agent_id);
  put(object, "session_id", holder.owner.session_id);
  put(object, "pr_id", holder.pr_id);
  put(object, "host", holder.host);
  if (holder.process) object["process"] = wire::process_json(holder.process);
}

void put(json::object& object, const Caller& caller) {
  put(object, caller.holder);
  put(object, "whole_session", caller.whole_session);
}

Caller read_caller(const Reader& reader) {
  Caller caller;
  caller.holder = wire::read_holder(reader);
  reader.get("whole_session", caller.whole_session);
  return caller;
}

json::object selection_json(const Selection& which) {
  json::object object;
  json::array ids;
  for (const LeaseId& id : which.ids) ids.emplace_back(id.text);
  if (!ids.empty()) object["ids"] = std::move(ids);
  put(object, "paths", which.paths);
  put(object, "all", which.all);
  put(object, "pr_id", which.pr_id);
  put(object, "session_id", which.session_id);
  put(object, "agent_id", which.agent_id);
  return object;
}

Selection read_selection(const Reader& request) {
  const json::value* value = request.find("which");
  Selection which;
  if (value == nullptr) return which;
  const Reader reader(*value, "which");
  std::vector<std::string> ids;
  reader.get("ids", ids);
  for (std::string& id : ids) which.ids.push_back({std::move(id)});
  reader.get("paths", which.paths);
  reader.get("all", which.all);
  reader.get("pr_id", which.pr_id);
  reader.get("session_id", which.session_id);
  reader.get("agent_id", which.agent_id);
  reader.expect_no_others();
  return which;
}

WantedPath read_wanted(const json::value& value) {
  WantedPath wanted;
  if (value.is_string()) {
    wanted.path = std::string_view(value.get_string());
    return wanted;
  }
  if (!value.is_object()) throw wire::Malformed{"paths[] has to be a text, or an object: {\"path\": ...}."};
  const Reader reader(value, "paths[]");
  reader.get("path", wanted.path);
  reader.get("subtree", wanted.subtree);
  reader.get("requested", wanted.requested);
  reader.get("paired_with", wanted.paired_with);
  reader.get("rule", wanted.rule);
  reader.expect_no_others();
  return wanted;
}

json::value wanted_json(const WantedPath& wanted) {
  if (wanted == WantedPath{.path = wanted.path}) return json::value(wanted.path);
  json::object object = {{"path", wanted.path}};
  put(object, "subtree", wanted.subtree);
  put(object, "requested", wanted.requested, true);
  put(object, "paired_with", wanted.paired_with);
  put(object, "rule", wanted.rule);
  return object;
}

AcquireRequest read_acquire(const Reader& reader) {
  AcquireRequest request;
  request.caller = read_caller(reader);
  reader.get_all("paths", request.paths, read_wanted);
  reader.get_word("mode", request.mode, "exclusive or shared");
  reader.get("ttl_ms", request.ttl);
  reader.get("max_renewals", request.max_renewals);
  reader.get("wait_ms", request.wait);
  request.waiter = wire::read_process(reader, "waiter");
  reader.get("priority", request.priority);
  reader.get("attended", request.attended);
  reader.get("reason", request.reason);
  reader.get("room", request.room);
  reader.get("trace", request.trace);
  reader.get("idempotency_key", request.idempotency_key);
  return request;
}

// Reads one document, all of it.
template <class T, class Read>
Result<T> whole(const json::value& value, const Read& read) {
  return reading<T>([&] {
    const Reader reader(value);
    T request = read(reader);
    reader.expect_no_others();
    return request;
  });
}

}  // namespace

json::object request_json(const Caller& caller) {
  json::object object;
  put(object, caller);
  return object;
}

json::object request_json(const AcquireRequest& request) {
  json::object object = request_json(request.caller);
  json::array paths;
  for (const WantedPath& wanted : request.paths) paths.push_back(wanted_json(wanted));
  object["paths"] = std::move(paths);
  if (request.mode != Mode::exclusive) object["mode"] = word(request.mode);
  put(object, "ttl_ms", request.ttl);
  if (request.max_renewals) object["max_renewals"] = *request.max_renewals;
  put(object, "wait_ms", request.wait);
  if (request.waiter) object["waiter"] = wire::process_json(request.waiter);
  put(object, "priority", request.priority);
  put(object, "attended", request.attended);
  put(object, "reason", request.reason);
  put(object, "room", request.room);
  put(object, "trace", request.trace);
  put(object, "idempotency_key", request.idempotency_key);
  return object;
}

json::object request_json(const GateRequest& request) {
  json::object object = request_json(request.wanted);
  put(object, "read", request.read);
  if (request.telling != Telling::told) object["telling"] = word(request.telling);
  return object;
}

json::object request_json(const ReleaseRequest& request) {
  json::object object = request_json(request.caller);
  object["which"] = selection_json(request.which);
  put(object, "token", request.token);
  return object;
}

json::object request_json(const RenewRequest& request) {
  json::object object = request_json(request.caller);
  object["which"] = selection_json(request.which);
  put(object, "token", request.token);
  put(object, "ttl_ms", request.ttl);
  return object;
}

json::object request_json(const TransferRequest& request) {
  json::object object = request_json(request.caller);
  object["which"] = selection_json(request.which);
  json::object to;
  put(to, request.to);
  object["to"] = std::move(to);
  put(object, "note", request.note);
  put(object, "as_operator", request.as_operator);
  put(object, "attended", request.attended);
  return object;
}

json::object request_json(const ForceReleaseRequest& request) {
  json::object object = {{"which", selection_json(request.which)}};
  put(object, "actor", request.actor);
  put(object, "reason", request.reason);
  put(object, "recall_ms", request.recall);
  return object;
}

json::object request_json(const InstructRequest& request) {
  json::object object = {{"instruction", word(request.instruction)}};
  put(object, "actor", request.actor);
  put(object, "reason", request.reason);
  return object;
}

json::object request_json(const CheckRequest& request) {
  json::object object = request_json(request.caller);
  object["path"] = request.path;
  object["token"] = request.token.value;
  return object;
}

json::object setting_json(const Setting& setting) {
  return {{"key", setting.key},
          {"scope", setting.scope},
          {"resource", setting.resource},
          {"value", setting.value},
          {"type", setting.type},
          {"description", setting.description},
          {"requires_restart", setting.requires_restart},
          {"updated_at", to_rfc3339(setting.updated_at)}};
}

Result<Caller> caller_from(const json::value& value) { return whole<Caller>(value, read_caller); }

Result<AcquireRequest> acquire_request_from(const json::value& value) {
  return whole<AcquireRequest>(value, read_acquire);
}

Result<GateRequest> gate_request_from(const json::value& value) {
  return whole<GateRequest>(value, [](const Reader& reader) {
    GateRequest request;
    request.wanted = read_acquire(reader);
    reader.get("read", request.read);
    reader.get_word("telling", request.telling, "told, kept or only");
    return request;
  });
}

Result<ReleaseRequest> release_request_from(const json::value& value) {
  return whole<ReleaseRequest>(value, [](const Reader& reader) {
    ReleaseRequest request = {.caller = read_caller(reader), .which = read_selection(reader)};
    reader.get("token", request.token);
    return request;
  });
}

Result<RenewRequest> renew_request_from(const json::value& value) {
  return whole<RenewRequest>(value, [](const Reader& reader) {
    RenewRequest request = {.caller = read_caller(reader), .which = read_selection(reader)};
    reader.get("token", request.token);
    reader.get("ttl_ms", request.ttl);
    return request;
  });
}

Result<TransferRequest> transfer_request_from(const json::value& value) {
  return whole<TransferRequest>(value, [](const Reader& reader) {
    TransferRequest request = {.caller = read_caller(reader), .which = read_selection(reader)};
    if (const json::value* to = reader.find("to")) {
      const Reader receiver(*to, "to");
      request.to = wire::read_holder(receiver);
      receiver.expect_no_others();
    }
    reader.get("note", request.note);
    reader.get("as_operator", request.as_operator);
    reader.get("attended", request.attended);
    return request;
  });
}

Result<ForceReleaseRequest> force_release_request_from(const json::value& value) {
  return whole<ForceReleaseRequest>(value, [](const Reader& reader) {
    ForceReleaseRequest request;
    request.which = read_selection(reader);
    reader.get("actor", request.actor);
    reader.get("reason", request.reason);
    reader.get("recall_ms", request.recall);
    return request;
  });
}

Result<InstructRequest> instruct_request_from(const json::value& value) {
  return whole<InstructRequest>(value, [](const Reader& reader) {
    InstructRequest request;
    if (!reader.has("instruction"))
      throw wire::Malformed{"instruction is missing: retry, force, transfer or abandon."};
    reader.get_word("instruction", request.instruction, "retry, force, transfer or abandon");
    reader.get("actor", request.actor);
    reader.get("reason", request.reason);
    return request;
  });
}

Result<CheckRequest> check_request_from(const json::value& value) {
  return whole<CheckRequest>(value, [](const Reader& reader) {
    CheckRequest request;
    request.caller = read_caller(reader);
    reader.get("path", request.path);
    reader.get("token", request.token);
    return request;
  });
}

Result<Setting> setting_from(const json::value& value) {
  return whole<Setting>(value, [](const Reader& reader) {
    Setting setting;
    reader.get("key", setting.key);
    reader.get("scope", setting.scope);
    reader.get("resource", setting.resource);
    reader.get("value", setting.value);
    reader.get("type", setting.type);
    reader.get("description", setting.description);
    reader.get("requires_restart", setting.requires_restart);
    reader.get("updated_at", setting.updated_at);
    return setting;
  });
}

}  // namespace leasehold
