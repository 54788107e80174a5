#include "mcp/concise.h"

#include <algorithm>
#include <array>

#include "model/notice_text.h"
#include "util/rfc3339.h"
#include "util/wall_now.h"

namespace leasehold::mcp {
namespace {

constexpr std::array<std::string_view, 13> kForPrograms = {
    "attended",      "created_at", "exit_code", "group_id", "host",       "lease_id", "max_renewals",
    "renewal_count", "requested",  "room",      "trace",    "updated_at", "workspace"};

bool is_empty(const json::value& value) {
  return value.is_null() || (value.is_string() && value.get_string().empty()) ||
         (value.is_array() && value.get_array().empty()) || (value.is_object() && value.get_object().empty());
}

bool is_for_programs(std::string_view name) {
  return name.ends_with("_at_ms") || name == "at_ms" ||
         std::ranges::find(kForPrograms, name) != kForPrograms.end();
}

void shorten(json::value& value);

void shorten(json::object& object) {
  if (const json::object* process = object_at(object, "process")) {
    if (const json::value* pid = process->if_contains("pid")) object["process"] = json::object{{"pid", *pid}};
  }
  json::object kept;
  kept.reserve(object.size());
  for (auto& member : object) {
    if (is_empty(member.value()) || is_for_programs(member.key())) continue;
    shorten(member.value());
    if (!is_empty(member.value())) kept.emplace(member.key(), std::move(member.value()));
  }
  object = std::move(kept);
}

void shorten(json::value& value) {
  if (json::array* const list = value.if_array()) {
    for (json::value& one : *list) shorten(one);
  } else if (json::object* const object = value.if_object()) {
    shorten(*object);
  }
}

void add_text(json::object& object, std::string_view name, std::string_view text) {
  if (!text.empty()) object[name] = text;
}

void add_texts(json::object& object, std::string_view name, const std::vector<std::string>& texts) {
  if (!texts.empty()) object[name] = json::array(texts.begin(), texts.end());
}

void add_time(json::object& object, std::string_view name, std::optional<Time> then, const Board& board) {
  if (then && *then != kForever) object[name] = to_rfc3339(wall_time(*then, board.now, board.wall));
}

// Most have no more members; then an object needs no table of its names.
constexpr std::size_t kMembersOfALease = 18;

json::object concise_row(const BoardRow& row, const Board& board) {
  const Lease& lease = row.lease;
  json::object result;
  result.reserve(kMembersOfALease);
  result["id"] = lease.id.text;
  result["path"] = lease.path;
  result["subtree"] = lease.subtree;
  result["mode"] = word(lease.mode);
  result["status"] = word(lease.status);
  result["token"] = lease.token.value;
  if (lease.ended_by != EndCause::none) result["ended_by"] = word(lease.ended_by);
  add_text(result, "agent_id", lease.holder.owner.agent_id);
  add_text(result, "session_id", lease.holder.owner.session_id);
  add_text(result, "pr_id", lease.holder.pr_id);
  if (lease.holder.process) result["process"] = json::object{{"pid", lease.holder.process->pid}};
  if (lease.token.value != 0) add_time(result, "acquired_at", lease.acquired_at, board);
  add_time(result, "expires_at", lease.expires_at, board);
  add_time(result, "last_heartbeat_at", lease.last_heartbeat_at, board);
  add_time(result, "idle_at", lease.idle_at, board);
  add_time(result, "recalled_at", lease.recalled_at, board);
  result["ttl_ms"] = lease.ttl.count();
  add_text(result, "reason", lease.reason);
  add_texts(result, "paired_with", lease.paired_with);
  add_texts(result, "pairs", lease.pairs);
  add_text(result, "rule", lease.rule);
  json::object& verdict = result["verdict"].emplace_object();
  verdict["liveness"] = word(row.verdict.liveness);
  add_text(verdict, "evidence", row.verdict.evidence);
  result["live"] = row.live;
  return result;
}

// A notice in the words that people and other hooks are told it.
std::string message_of(const json::object& notice) {
  const auto text = [&](std::string_view name) -> std::string {
    const json::value* const value = notice.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  const auto flag = [&](std::string_view name) {
    const json::value* const value = notice.if_contains(name);
    return value != nullptr && value->is_bool() && value->get_bool();
  };
  return notice_text({.cause = from_word<EndCause>(text("cause")).value_or(EndCause::none),
                      .received = flag("received"),
                      .path = text("path"),
                      .subtree = flag("subtree"),
                      .actor = text("actor"),
                      .reason = text("reason"),
                      .wall = parse_rfc3339(text("at")).value_or(WallTime())},
                     wall_now());
}

}  // namespace

json::object concise_board(const Board& board) {
  json::array rows;
  rows.reserve(board.rows.size());
  for (const BoardRow& row : board.rows) rows.push_back(concise_row(row, board));
  return {{"at", to_rfc3339(board.wall)}, {"leases", std::move(rows)}};
}

json::object concise(json::object document) {
  for (auto& member : document) shorten(member.value());
  for (const std::string_view name : {"at_ms", "retry_at_ms", "group_id"}) document.erase(name);
  json::array* const notices = document.contains("notices") ? document.at("notices").if_array() : nullptr;
  if (notices == nullptr) return document;
  for (json::value& notice : *notices) {
    if (json::object* const one = notice.if_object()) (*one)["message"] = message_of(*one);
  }
  if (notices->empty()) document.erase("notices");
  return document;
}

}  // namespace leasehold::mcp
