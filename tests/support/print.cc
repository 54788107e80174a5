#include "support/print.h"

#include <iomanip>
#include <ostream>
#include <sstream>
#include <type_traits>

namespace leasehold {
namespace {

std::string text(bool value) { return value ? "true" : "false"; }
std::string text(Time value) { return std::to_string(value.time_since_epoch().count()) + "ns"; }
std::string text(WallTime value) { return std::to_string(value.time_since_epoch().count()) + "us"; }
std::string text(Duration value) { return std::to_string(value.count()) + "ms"; }
std::string text(Token value) { return std::to_string(value.value); }

std::string text(const std::string& value) {
  std::ostringstream out;
  out << std::quoted(value);
  return out.str();
}

template <class Tag>
std::string text(const Id<Tag>& value) {
  return text(value.text);
}

template <class Value>
  requires std::is_enum_v<Value>
std::string text(Value value) {
  return std::string(word(value));
}

template <class Value>
  requires std::is_arithmetic_v<Value>
std::string text(Value value) {
  return std::to_string(value);
}

template <class Value>
std::string text(const std::optional<Value>& value) {
  return value ? text(*value) : "none";
}

template <class Value>
std::string text(const std::vector<Value>& values) {
  std::string all = "[";
  for (const Value& value : values) all += text(value) + ' ';
  return all + ']';
}

// Collects fields. The records take themselves apart with structured bindings that name every
// member, so that this file does not compile until a new one is added here.
class Fields {
 public:
  explicit Fields(FieldTexts& texts, std::string prefix = "") : texts_(texts), prefix_(std::move(prefix)) {}

  template <class Value>
  const Fields& add(const std::string& name, const Value& value) const {
    texts_.emplace_back(prefix_ + name, text(value));
    return *this;
  }

  const Fields& add(const std::string& name, const Owner& owner) const {
    const auto& [agent_id, session_id] = owner;
    within(name).add("agent_id", agent_id).add("session_id", session_id);
    return *this;
  }

  const Fields& add(const std::string& name, const Process& process) const {
    const auto& [machine_id, boot_id, pid_namespace, pid, start_time] = process;
    within(name)
        .add("machine_id", machine_id)
        .add("boot_id", boot_id)
        .add("pid_namespace", pid_namespace)
        .add("pid", pid)
        .add("start_time", start_time);
    return *this;
  }

  const Fields& add(const std::string& name, const Holder& holder) const {
    const auto& [owner, pr_id, host, process] = holder;
    within(name).add("owner", owner).add("pr_id", pr_id).add("host", host);
    if (process) within(name).add("process", *process);
    return *this;
  }

  const Fields& add(const std::string& name, const WantedPath& wanted) const {
    const auto& [path, subtree, requested, paired_with, rule] = wanted;
    within(name)
        .add("path", path)
        .add("subtree", subtree)
        .add("requested", requested)
        .add("paired_with", paired_with)
        .add("rule", rule);
    return *this;
  }

  const Fields& add(const std::string& name, const AcquireRequest& request) const {
    const auto& [caller, paths, mode, ttl, max_renewals, wait, waiter, priority, attended, reason, room,
                 trace, key] = request;
    const auto& [holder, whole_session] = caller;
    within(name)
        .add("holder", holder)
        .add("whole_session", whole_session)
        .add("mode", mode)
        .add("ttl", ttl)
        .add("max_renewals", max_renewals)
        .add("wait", wait)
        .add("priority", priority)
        .add("attended", attended)
        .add("reason", reason)
        .add("room", room)
        .add("trace", trace)
        .add("idempotency_key", key);
    if (waiter) within(name).add("waiter", *waiter);
    for (const WantedPath& wanted : paths) within(name).add("paths", wanted);
    return *this;
  }

 private:
  Fields within(const std::string& name) const { return Fields(texts_, prefix_ + name + '.'); }

  FieldTexts& texts_;
  std::string prefix_;
};

template <class Record>
void print(const char* type, const Record& record, std::ostream& out) {
  out << type << '{';
  for (const auto& [name, value] : fields(record)) out << "\n  " << name << '=' << value;
  out << '}';
}

}  // namespace

FieldTexts fields(const Lease& lease) {
  const auto& [id, workspace, path, subtree, mode, holder, token, status, ended_by, created_at, acquired_at,
               expires_at, last_heartbeat_at, updated_at, ttl, renewal_count, max_renewals, group, room,
               reason, trace, requested, paired_with, pairs, rule, attended, idle_at, recalled_at] = lease;
  FieldTexts texts;
  Fields(texts)
      .add("id", id)
      .add("workspace", workspace)
      .add("path", path)
      .add("subtree", subtree)
      .add("mode", mode)
      .add("holder", holder)
      .add("token", token)
      .add("status", status)
      .add("ended_by", ended_by)
      .add("created_at", created_at)
      .add("acquired_at", acquired_at)
      .add("expires_at", expires_at)
      .add("last_heartbeat_at", last_heartbeat_at)
      .add("updated_at", updated_at)
      .add("ttl", ttl)
      .add("renewal_count", renewal_count)
      .add("max_renewals", max_renewals)
      .add("group_id", group)
      .add("room", room)
      .add("reason", reason)
      .add("trace", trace)
      .add("requested", requested)
      .add("paired_with", paired_with)
      .add("pairs", pairs)
      .add("rule", rule)
      .add("attended", attended)
      .add("idle_at", idle_at)
      .add("recalled_at", recalled_at);
  return texts;
}

FieldTexts fields(const Ticket& ticket) {
  const auto& [id, workspace, request, sequence, arrival, order, upgrade, wait_until, proven_until, status,
               ended_by, ended_at, leases, token] = ticket;
  FieldTexts texts;
  Fields(texts)
      .add("id", id)
      .add("workspace", workspace)
      .add("request", *request)
      .add("sequence", sequence)
      .add("arrival", arrival)
      .add("order", order)
      .add("upgrade", upgrade)
      .add("wait_until", wait_until)
      .add("proven_until", proven_until)
      .add("status", status)
      .add("ended_by", ended_by)
      .add("ended_at", ended_at)
      .add("leases", leases)
      .add("token", token);
  return texts;
}

FieldTexts fields(const Answer& answer) {
  const auto& [owner, key, request_hash, group, leases, ttl_clamped, drop_at] = answer;
  FieldTexts texts;
  Fields(texts)
      .add("owner", owner)
      .add("key", key)
      .add("request_hash", request_hash)
      .add("group_id", group)
      .add("leases", leases)
      .add("ttl_clamped", ttl_clamped)
      .add("drop_at", drop_at);
  return texts;
}

FieldTexts fields(const Notice& notice) {
  const auto& [id, owner, cause, received, lease, path, subtree, token, actor, reason, at, wall, drop_at] =
      notice;
  FieldTexts texts;
  Fields(texts)
      .add("id", id)
      .add("owner", owner)
      .add("cause", cause)
      .add("received", received)
      .add("lease_id", lease)
      .add("path", path)
      .add("subtree", subtree)
      .add("token", token)
      .add("actor", actor)
      .add("reason", reason)
      .add("at", at)
      .add("wall", wall)
      .add("drop_at", drop_at);
  return texts;
}

FieldTexts fields(const Event& event) {
  const auto& [sequence, type, lease, group, owner, pr_id, path, subtree, mode, token, status_before,
               status_after, cause, renewal_count, count, at, wall, actor, reason, trace] = event;
  FieldTexts texts;
  Fields(texts)
      .add("sequence", sequence)
      .add("type", type)
      .add("lease_id", lease)
      .add("group_id", group)
      .add("owner", owner)
      .add("pr_id", pr_id)
      .add("path", path)
      .add("subtree", subtree)
      .add("mode", mode)
      .add("token", token)
      .add("status_before", status_before)
      .add("status_after", status_after)
      .add("cause", cause)
      .add("renewal_count", renewal_count)
      .add("count", count)
      .add("at", at)
      .add("wall", wall)
      .add("actor", actor)
      .add("reason", reason)
      .add("trace", trace);
  return texts;
}

void PrintTo(const Error& error, std::ostream* out) {
  *out << info(error.code).name << ": " << error.message;
}
void PrintTo(const LeaseId& id, std::ostream* out) { *out << id.text; }
void PrintTo(const GroupId& id, std::ostream* out) { *out << id.text; }
void PrintTo(const Token& token, std::ostream* out) { *out << token.value; }
void PrintTo(const Owner& owner, std::ostream* out) { *out << owner.agent_id << '@' << owner.session_id; }
void PrintTo(const Lease& lease, std::ostream* out) { print("Lease", lease, *out); }
void PrintTo(const Ticket& ticket, std::ostream* out) { print("Ticket", ticket, *out); }
void PrintTo(const Answer& answer, std::ostream* out) { print("Answer", answer, *out); }
void PrintTo(const Notice& notice, std::ostream* out) { print("Notice", notice, *out); }
void PrintTo(const Event& event, std::ostream* out) { print("Event", event, *out); }

}  // namespace leasehold
