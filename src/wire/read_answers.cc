#include "wire/read_answers.h"

#include "wire/parts.h"
#include "wire/reader.h"
#include "wire/request_json.h"

namespace leasehold {

using wire::Reader;
using wire::reading;
namespace json = boost::json;

namespace {

// A moment that may be missing: null is nothing, not for ever.
void get_if_told(const Reader& reader, std::string_view name, std::optional<Time>& to) {
  if (reader.has(name)) reader.get(name, to.emplace());
}

Code read_code(const Reader& reader) {
  std::string name;
  reader.get("code", name);
  const auto code = code_named(name);
  if (!code) throw wire::Malformed{"code is not one of ours."};
  return *code;
}

std::optional<Error> read_error(const Reader& reader) {
  const json::value* value = reader.find("error");
  if (value == nullptr) return std::nullopt;
  const Reader part(*value, "error");
  Error error = {.code = read_code(part), .message = {}};
  part.get("message", error.message);
  return error;
}

Verdict read_verdict(const Reader& reader, std::string_view name) {
  Verdict verdict;
  if (const json::value* value = reader.find(name)) {
    const Reader part(*value, std::string(name));
    part.get_word("liveness", verdict.liveness);
    part.get("evidence", verdict.evidence);
  }
  return verdict;
}

Lease read_lease(const json::value& value) {
  const Reader reader(value);
  Lease lease;
  reader.get("id", lease.id);
  reader.get("workspace", lease.workspace);
  reader.get("path", lease.path);
  reader.get("subtree", lease.subtree);
  reader.get_word("mode", lease.mode);
  reader.get_word("status", lease.status);
  reader.get("token", lease.token);
  reader.get_word("ended_by", lease.ended_by);
  lease.holder = wire::read_holder(reader);
  reader.get("created_at", lease.created_at);
  if (lease.token.value != 0) reader.get("acquired_at", lease.acquired_at);
  reader.get("expires_at", lease.expires_at);
  reader.get("last_heartbeat_at", lease.last_heartbeat_at);
  reader.get("updated_at", lease.updated_at);
  get_if_told(reader, "idle_at", lease.idle_at);
  get_if_told(reader, "recalled_at", lease.recalled_at);
  reader.get("ttl_ms", lease.ttl);
  reader.get("renewal_count", lease.renewal_count);
  reader.get("max_renewals", lease.max_renewals);
  reader.get("group_id", lease.group_id);
  reader.get("room", lease.room);
  reader.get("reason", lease.reason);
  reader.get("trace", lease.trace);
  reader.get("requested", lease.requested);
  reader.get("paired_with", lease.paired_with);
  reader.get("pairs", lease.pairs);
  reader.get("rule", lease.rule);
  reader.get("attended", lease.attended);
  return lease;
}

Blocked read_blocked(const json::value& value) {
  const Reader reader(value);
  Blocked blocked;
  reader.get("path", blocked.path);
  reader.get("waits", blocked.waits);
  reader.get("held_path", blocked.held_path);
  reader.get("subtree", blocked.subtree);
  reader.get_word("mode", blocked.mode);
  reader.get("lease_id", blocked.lease_id);
  blocked.holder = wire::read_holder(reader);
  reader.get("reason", blocked.reason);
  reader.get("acquired_at", blocked.acquired_at);
  reader.get("last_heartbeat_at", blocked.last_heartbeat_at);
  reader.get("expires_at", blocked.expires_at);
  blocked.verdict = read_verdict(reader, "verdict");
  reader.get("waiters_ahead", blocked.waiters_ahead);
  return blocked;
}

Notice read_notice(const json::value& value) {
  const Reader reader(value);
  Notice notice;
  reader.get("id", notice.id);
  reader.get_word("cause", notice.cause);
  reader.get("received", notice.received);
  reader.get("agent_id", notice.owner.agent_id);
  reader.get("session_id", notice.owner.session_id);
  reader.get("lease_id", notice.lease_id);
  reader.get("path", notice.path);
  reader.get("subtree", notice.subtree);
  reader.get("token", notice.token);
  reader.get("actor", notice.actor);
  reader.get("reason", notice.reason);
  reader.get("at", notice.wall);
  notice.at = wire::from_wall(notice.wall);
  return notice;
}

Event read_event(const json::value& value) {
  const Reader reader(value);
  Event event;
  reader.get("sequence", event.sequence);
  reader.get_word("type", event.type);
  reader.get("at", event.wall);
  event.at = wire::from_wall(event.wall);
  reader.get("lease_id", event.lease_id);
  reader.get("group_id", event.group_id);
  reader.get("agent_id", event.owner.agent_id);
  reader.get("session_id", event.owner.session_id);
  reader.get("pr_id", event.pr_id);
  reader.get("path", event.path);
  reader.get("subtree", event.subtree);
  reader.get_word("mode", event.mode);
  reader.get("token", event.token);
  if (reader.has("status_before")) reader.get_word("status_before", event.status_before.emplace());
  if (reader.has("status_after")) reader.get_word("status_after", event.status_after.emplace());
  reader.get_word("cause", event.cause);
  reader.get("renewal_count", event.renewal_count);
  reader.get("count", event.count);
  reader.get("actor", event.actor);
  reader.get("reason", event.reason);
  reader.get("trace", event.trace);
  return event;
}

Outcome read_outcome(const json::value& value) {
  const Reader reader(value);
  Outcome outcome;
  reader.get("path", outcome.path);
  reader.get("already", outcome.already);
  reader.get("ttl_clamped", outcome.ttl_clamped);
  outcome.error = read_error(reader);
  if (const json::value* lease = reader.find("lease")) outcome.lease = read_lease(*lease);
  return outcome;
}

Contention read_contention(const json::value& value) {
  const Reader reader(value);
  Contention contention;
  reader.get("id", contention.id);
  reader.get("file", contention.path);
  reader.get_word("state", contention.state);
  if (const json::value* wanted = reader.find("wanted")) {
    auto request = acquire_request_from(*wanted);
    if (!request) throw wire::Malformed{request.error().message};
    contention.wanted = *std::move(request);
  }
  if (const json::value* blocked = reader.find("in_the_way")) contention.in_the_way = read_blocked(*blocked);
  reader.get("may_retry", contention.may_retry);
  reader.get("instructed_by", contention.instructed_by);
  reader.get("instruction_reason", contention.instruction_reason);
  reader.get("first_denied_at", contention.first_denied_at);
  reader.get("retry_at", contention.retry_at);
  get_if_told(reader, "retried_at", contention.retried_at);
  return contention;
}

BoardRow read_row(const json::value& value) {
  const Reader reader(value);
  BoardRow row = {.lease = read_lease(value), .verdict = read_verdict(reader, "verdict")};
  reader.get("live", row.live);
  return row;
}

Decision read_decision(const Reader& reader) {
  std::string word;
  reader.get("decision", word);
  if (word == "granted") {
    Granted granted;
    reader.get("group_id", granted.group_id);
    reader.get_all("leases", granted.leases, read_lease);
    reader.get("ttl_clamped", granted.ttl_clamped);
    reader.get("replayed", granted.replayed);
    reader.get("waited_ms", granted.waited);
    return granted;
  }
  if (word == "queued") {
    Queued queued;
    reader.get("ticket", queued.ticket);
    reader.get("position", queued.position);
    reader.get("at", queued.at);
    reader.get("wait_until", queued.wait_until);
    reader.get_all("blocked", queued.blocked, read_blocked);
    reader.get("more_blocked", queued.more_blocked);
    reader.get("replayed", queued.replayed);
    return queued;
  }
  const auto error = read_error(reader);
  if (word != "refused" || !error) throw wire::Malformed{"decision has to be granted, queued or refused."};
  Refused refused = {.code = error->code, .message = error->message, .blocked = {}};
  reader.get_all("blocked", refused.blocked, read_blocked);
  reader.get("more_blocked", refused.more_blocked);
  reader.get("waited_ms", refused.waited);
  reader.get("retry_after_ms", refused.retry_after);
  reader.get("next_command", refused.next_command);
  return refused;
}

std::variant<Allowed, Denied> read_gate_decision(const Reader& reader) {
  std::string word;
  reader.get("decision", word);
  if (word != "denied") {
    Allowed allowed = {.leases = {}, .granted = word == "granted"};
    reader.get_all("leases", allowed.leases, read_lease);
    return allowed;
  }
  Denied denied = {.code = read_code(reader)};
  reader.get("message", denied.message);
  reader.get_all("contentions", denied.contentions, read_contention);
  reader.get_all("blocked", denied.blocked, read_blocked);
  reader.get("more_blocked", denied.more_blocked);
  if (reader.has("retry_at")) reader.get("retry_at", denied.retry_at);
  return denied;
}

}  // namespace

Result<AcquireAnswer> acquire_answer_from(const json::value& value) {
  return reading<AcquireAnswer>([&] {
    const Reader reader(value);
    AcquireAnswer answer = {.decision = read_decision(reader), .notices = {}};
    reader.get_all("notices", answer.notices, read_notice);
    return answer;
  });
}

Result<Outcomes> outcomes_from(const json::value& value) {
  return reading<Outcomes>([&] {
    const Reader reader(value);
    Outcomes outcomes;
    reader.get_all("outcomes", outcomes.outcomes, read_outcome);
    reader.get_all("notices", outcomes.notices, read_notice);
    return outcomes;
  });
}

Result<CheckAnswer> check_answer_from(const json::value& value) {
  return reading<CheckAnswer>([&] {
    const Reader reader(value);
    CheckAnswer answer;
    reader.get("current", answer.current);
    answer.error = read_error(reader);
    reader.get_all("holders", answer.holders, read_lease);
    reader.get_all("notices", answer.notices, read_notice);
    return answer;
  });
}

Result<Lease> lease_from(const json::value& value) {
  return reading<Lease>([&] { return read_lease(value); });
}

Result<Board> board_from(const json::value& value) {
  return reading<Board>([&] {
    const Reader reader(value);
    Board board;
    reader.get("at", board.wall);
    board.now = wire::from_wall(board.wall);
    // Without them this is no board, and not an empty one.
    if (!reader.has("leases")) throw wire::Malformed{"leases is missing."};
    reader.get_all("leases", board.rows, read_row);
    return board;
  });
}

Result<std::vector<Event>> events_from(const json::value& value) {
  return reading<std::vector<Event>>([&] {
    std::vector<Event> events;
    Reader(value).get_all("events", events, read_event);
    return events;
  });
}

Result<GateAnswer> gate_answer_from(const json::value& value) {
  return reading<GateAnswer>([&] {
    const Reader reader(value);
    GateAnswer answer = {.decision = read_gate_decision(reader)};
    reader.get("at", answer.wall);
    answer.at = wire::from_wall(answer.wall);
    reader.get_all("notices", answer.notices, read_notice);
    return answer;
  });
}

Result<Blockers> blockers_from(const json::value& value) {
  return reading<Blockers>([&] {
    const Reader reader(value);
    Blockers blockers;
    reader.get("at", blockers.wall);
    blockers.at = wire::from_wall(blockers.wall);
    reader.get_all("blockers", blockers.blockers, [](const json::value& one) {
      const Reader row(one);
      Blocker blocker = {.contention = read_contention(one), .worker = read_verdict(row, "worker_liveness")};
      row.get_all("blocked", blocker.blocked, read_blocked);
      return blocker;
    });
    return blockers;
  });
}

Result<Contention> contention_from(const json::value& value) {
  return reading<Contention>([&] { return read_contention(value); });
}

Result<SessionPaths> session_paths_from(const json::value& value) {
  return reading<SessionPaths>([&] {
    const Reader reader(value);
    SessionPaths found;
    std::string session_id;
    reader.get("session_id", session_id);
    reader.get_all("paths", found.paths, [&](const json::value& one) {
      const Reader row(one);
      SessionPath path = {.session_id = session_id};
      row.get("path", path.path);
      row.get("subtree", path.subtree);
      row.get_word("mode", path.mode);
      row.get("drop_at", path.drop_at);
      return path;
    });
    reader.get("invalid", found.invalid);
    return found;
  });
}

Result<Swept> swept_from(const json::value& value) {
  return reading<Swept>([&] {
    const Reader reader(value);
    Swept swept;
    reader.get("ended", swept.ended);
    reader.get("dropped", swept.dropped);
    reader.get("forgotten", swept.forgotten);
    return swept;
  });
}

}  // namespace leasehold
