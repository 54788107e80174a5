#include "store/json/stored_records.h"

#include "store/json/fields.h"

namespace leasehold {

using namespace fields;

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

void put(json::object& object, std::string_view name, Time time) {
  if (time != Time{}) object[name] = time.time_since_epoch().count();
}

void put(json::object& object, std::string_view name, const std::optional<Time>& time) {
  if (time) object[name] = time->time_since_epoch().count();
}

void put(json::object& object, std::string_view name, WallTime time) {
  if (time != WallTime{}) object[name] = time.time_since_epoch().count();
}

void put(json::object& object, std::string_view name, Token token) {
  if (token.value != 0) object[name] = token.value;
}

template <class Tag>
void put(json::object& object, std::string_view name, const Id<Tag>& id) {
  if (!id.text.empty()) object[name] = id.text;
}

template <class Tag>
void put(json::object& object, std::string_view name, const std::vector<Id<Tag>>& ids) {
  if (ids.empty()) return;
  json::array texts;
  for (const Id<Tag>& id : ids) texts.emplace_back(id.text);
  object[name] = std::move(texts);
}

template <class Enum>
  requires std::is_enum_v<Enum>
void put_word(json::object& object, std::string_view name, Enum value) {
  object[name] = word(value);
}

void fill(json::object& object, const Lease& lease) {
  put(object, "id", lease.id);
  fields::put(object, "workspace", lease.workspace);
  fields::put(object, "path", lease.path);
  fields::put(object, "subtree", lease.subtree);
  put_word(object, "mode", lease.mode);
  object["holder"] = fields::to_object(lease.holder, object.storage());
  put(object, "token", lease.token);
  put_word(object, "status", lease.status);
  if (lease.ended_by != EndCause::none) put_word(object, "ended_by", lease.ended_by);
  put(object, "created_at", lease.created_at);
  put(object, "acquired_at", lease.acquired_at);
  put(object, "expires_at", lease.expires_at);
  put(object, "last_heartbeat_at", lease.last_heartbeat_at);
  put(object, "updated_at", lease.updated_at);
  if (lease.ttl != Duration{}) object["ttl_ms"] = lease.ttl.count();
  fields::put(object, "renewal_count", lease.renewal_count);
  fields::put(object, "max_renewals", lease.max_renewals, -1);
  put(object, "group_id", lease.group_id);
  fields::put(object, "room", lease.room);
  fields::put(object, "reason", lease.reason);
  fields::put(object, "trace", lease.trace);
  fields::put(object, "requested", lease.requested, true);
  fields::put(object, "paired_with", lease.paired_with);
  fields::put(object, "pairs", lease.pairs);
  fields::put(object, "rule", lease.rule);
  fields::put(object, "attended", lease.attended);
  put(object, "idle_at", lease.idle_at);
  put(object, "recalled_at", lease.recalled_at);
}

Lease lease_from(const json::value& value) {
  const Fields fields(value);
  Lease lease;
  fields.get("id", lease.id);
  fields.get("workspace", lease.workspace);
  fields.get("path", lease.path);
  fields.get("subtree", lease.subtree);
  fields.get_word("mode", lease.mode);
  if (const json::value* holder = fields.find("holder")) lease.holder = holder_from(*holder);
  fields.get("token", lease.token);
  fields.get_word("status", lease.status);
  fields.get_word("ended_by", lease.ended_by);
  fields.get("created_at", lease.created_at);
  fields.get("acquired_at", lease.acquired_at);
  fields.get("expires_at", lease.expires_at);
  fields.get("last_heartbeat_at", lease.last_heartbeat_at);
  fields.get("updated_at", lease.updated_at);
  if (const json::value* ttl = fields.find("ttl_ms")) lease.ttl = Duration(as<std::int64_t>(*ttl));
  fields.get("renewal_count", lease.renewal_count);
  fields.get("max_renewals", lease.max_renewals);
  fields.get("group_id", lease.group_id);
  fields.get("room", lease.room);
  fields.get("reason", lease.reason);
  fields.get("trace", lease.trace);
  fields.get("requested", lease.requested);
  fields.get("paired_with", lease.paired_with);
  fields.get("pairs", lease.pairs);
  fields.get("rule", lease.rule);
  fields.get("attended", lease.attended);
  fields.get("idle_at", lease.idle_at);
  fields.get("recalled_at", lease.recalled_at);
  if (lease.id.text.empty() || lease.path.empty()) throw Malformed();
  return lease;
}

void put_end(json::object& object, const Ticket& ticket) {
  put_word(object, "status", ticket.status);
  if (ticket.ended_by != EndCause::none) put_word(object, "ended_by", ticket.ended_by);
  put(object, "ended_at", ticket.ended_at);
  put(object, "leases", ticket.leases);
  put(object, "token", ticket.token);
}

void get_end(const Fields& fields, Ticket& ticket) {
  fields.get_word("status", ticket.status);
  fields.get_word("ended_by", ticket.ended_by);
  fields.get("ended_at", ticket.ended_at);
  ticket.leases.clear();
  fields.get("leases", ticket.leases);
  fields.get("token", ticket.token);
}

Ticket ticket_from(const json::value& value) {
  const Fields fields(value);
  Ticket ticket;
  fields.get("id", ticket.id);
  fields.get("workspace", ticket.workspace);
  if (const json::value* request = fields.find("request")) ticket.request = request_from(*request);
  fields.get("sequence", ticket.sequence);
  fields.get("arrival", ticket.arrival);
  fields.get("order", ticket.order);
  fields.get("upgrade", ticket.upgrade);
  fields.get("wait_until", ticket.wait_until);
  fields.get("proven_until", ticket.proven_until);
  get_end(fields, ticket);
  if (ticket.id.text.empty()) throw Malformed();
  return ticket;
}

Answer answer_from(const json::value& value) {
  const Fields fields(value);
  Answer answer;
  fields.get("agent_id", answer.owner.agent_id);
  fields.get("session_id", answer.owner.session_id);
  fields.get("key", answer.key);
  fields.get("request_hash", answer.request_hash);
  fields.get("group_id", answer.group_id);
  fields.get("leases", answer.leases);
  fields.get("ttl_clamped", answer.ttl_clamped);
  fields.get("drop_at", answer.drop_at);
  return answer;
}

Notice notice_from(const json::value& value) {
  const Fields fields(value);
  Notice notice;
  fields.get("id", notice.id);
  fields.get("agent_id", notice.owner.agent_id);
  fields.get("session_id", notice.owner.session_id);
  fields.get_word("cause", notice.cause);
  fields.get("received", notice.received);
  fields.get("lease_id", notice.lease_id);
  fields.get("path", notice.path);
  fields.get("subtree", notice.subtree);
  fields.get("token", notice.token);
  fields.get("actor", notice.actor);
  fields.get("reason", notice.reason);
  fields.get("at", notice.at);
  fields.get("wall_us", notice.wall);
  fields.get("drop_at", notice.drop_at);
  return notice;
}

void get_status(const Fields& fields, std::string_view name, std::optional<Status>& to) {
  if (fields.find(name) == nullptr) return;
  Status status{};
  fields.get_word(name, status);
  to = status;
}

Setting setting_from(const json::value& value) {
  const Fields fields(value);
  Setting setting;
  fields.get("key", setting.key);
  fields.get("scope", setting.scope);
  fields.get("resource", setting.resource);
  fields.get("value", setting.value);
  fields.get("type", setting.type);
  fields.get("description", setting.description);
  fields.get("requires_restart", setting.requires_restart);
  fields.get("updated_us", setting.updated_at);
  return setting;
}

Event event_from(const json::value& value) {
  const Fields fields(value);
  Event event;
  fields.get_word("type", event.type);
  fields.get("lease_id", event.lease_id);
  fields.get("group_id", event.group_id);
  fields.get("agent_id", event.owner.agent_id);
  fields.get("session_id", event.owner.session_id);
  fields.get("pr_id", event.pr_id);
  fields.get("path", event.path);
  fields.get("subtree", event.subtree);
  fields.get_word("mode", event.mode);
  fields.get("token", event.token);
  get_status(fields, "status_before", event.status_before);
  get_status(fields, "status_after", event.status_after);
  fields.get_word("cause", event.cause);
  fields.get("renewal_count", event.renewal_count);
  fields.get("count", event.count);
  fields.get("at", event.at);
  fields.get("wall_us", event.wall);
  fields.get("actor", event.actor);
  fields.get("reason", event.reason);
  fields.get("trace", event.trace);
  return event;
}

}  // namespace

std::string to_json(const Lease& lease) {
  return text_of([&](json::object& object) { fill(object, lease); });
}

std::string to_json(const Ticket& ticket) {
  json::object object;
  object.reserve(16);
  put(object, "id", ticket.id);
  fields::put(object, "workspace", ticket.workspace);
  object["request"] = fields::to_object(ticket.request);
  put(object, "sequence", ticket.sequence);
  put(object, "arrival", ticket.arrival);
  put(object, "order", ticket.order);
  fields::put(object, "upgrade", ticket.upgrade);
  put(object, "wait_until", ticket.wait_until);
  put(object, "proven_until", ticket.proven_until);
  put_end(object, ticket);
  return json::serialize(object);
}

std::string end_to_json(const Ticket& ticket) {
  return fields::text_of([&](json::object& object) { put_end(object, ticket); });
}

bool add_end(std::string_view text, Ticket& ticket) {
  return parse<bool>(text,
                     [&](const json::value& value) {
                       get_end(Fields(value), ticket);
                       return true;
                     })
      .has_value();
}

std::string to_json(const Answer& answer) {
  json::object object;
  fields::put(object, "agent_id", answer.owner.agent_id);
  fields::put(object, "session_id", answer.owner.session_id);
  fields::put(object, "key", answer.key);
  fields::put(object, "request_hash", answer.request_hash);
  put(object, "group_id", answer.group_id);
  put(object, "leases", answer.leases);
  fields::put(object, "ttl_clamped", answer.ttl_clamped);
  put(object, "drop_at", answer.drop_at);
  return json::serialize(object);
}

std::string to_json(const Notice& notice) {
  json::object object;
  fields::put(object, "id", notice.id);
  fields::put(object, "agent_id", notice.owner.agent_id);
  fields::put(object, "session_id", notice.owner.session_id);
  put_word(object, "cause", notice.cause);
  fields::put(object, "received", notice.received);
  put(object, "lease_id", notice.lease_id);
  fields::put(object, "path", notice.path);
  fields::put(object, "subtree", notice.subtree);
  put(object, "token", notice.token);
  fields::put(object, "actor", notice.actor);
  fields::put(object, "reason", notice.reason);
  put(object, "at", notice.at);
  put(object, "wall_us", notice.wall);
  put(object, "drop_at", notice.drop_at);
  return json::serialize(object);
}

std::string to_json(const Setting& setting) {
  json::object object = {{"key", setting.key}, {"value", setting.value}, {"type", setting.type}};
  fields::put(object, "scope", setting.scope, std::string("global"));
  fields::put(object, "resource", setting.resource);
  fields::put(object, "description", setting.description);
  fields::put(object, "requires_restart", setting.requires_restart);
  put(object, "updated_us", setting.updated_at);
  return json::serialize(object);
}

std::string to_json(const Event& event) {
  return text_of([&](json::object& object) {
    put_word(object, "type", event.type);
    put(object, "lease_id", event.lease_id);
    put(object, "group_id", event.group_id);
    fields::put(object, "agent_id", event.owner.agent_id);
    fields::put(object, "session_id", event.owner.session_id);
    fields::put(object, "pr_id", event.pr_id);
    fields::put(object, "path", event.path);
    fields::put(object, "subtree", event.subtree);
    put_word(object, "mode", event.mode);
    put(object, "token", event.token);
    if (event.status_before) put_word(object, "status_before", *event.status_before);
    if (event.status_after) put_word(object, "status_after", *event.status_after);
    if (event.cause != EndCause::none) put_word(object, "cause", event.cause);
    fields::put(object, "renewal_count", event.renewal_count);
    fields::put(object, "count", event.count, std::size_t{1});
    put(object, "at", event.at);
    put(object, "wall_us", event.wall);
    fields::put(object, "actor", event.actor);
    fields::put(object, "reason", event.reason);
    fields::put(object, "trace", event.trace);
  });
}

template <>
std::optional<Lease> record_from_json(std::string_view text) {
  return parse<Lease>(text, lease_from);
}
template <>
std::optional<Ticket> record_from_json(std::string_view text) {
  return parse<Ticket>(text, ticket_from);
}
template <>
std::optional<Answer> record_from_json(std::string_view text) {
  return parse<Answer>(text, answer_from);
}
template <>
std::optional<Notice> record_from_json(std::string_view text) {
  return parse<Notice>(text, notice_from);
}
template <>
std::optional<Event> record_from_json(std::string_view text) {
  return parse<Event>(text, event_from);
}
template <>
std::optional<Setting> record_from_json(std::string_view text) {
  return parse<Setting>(text, setting_from);
}

std::string path_document(const Lease& first, const std::vector<std::string>& leases) {
  const auto acquired = duration_cast<milliseconds>(first.acquired_at.time_since_epoch());
  const json::object top = {{"agentId", first.holder.owner.agent_id},
                            {"prId", first.holder.pr_id},
                            {"timestamp", acquired.count()},
                            {"ttl", first.ttl.count()}};
  std::string document = json::serialize(top);
  document.pop_back();
  document += ",\"leases\":[";
  for (std::size_t i = 0; i < leases.size(); ++i) {
    if (i > 0) document += ',';
    document += leases[i];
  }
  document += "]}";
  return document;
}

std::optional<std::vector<Lease>> leases_from_document(std::string_view text) {
  return parse<std::vector<Lease>>(text, [](const json::value& value) {
    const json::value* leases = Fields(value).find("leases");
    // A path that nobody holds has no document: an empty one says less than nothing.
    if (leases == nullptr || !leases->is_array() || leases->get_array().empty()) throw Malformed();
    std::vector<Lease> found;
    for (const json::value& lease : leases->get_array()) found.push_back(lease_from(lease));
    return found;
  });
}

}  // namespace leasehold
