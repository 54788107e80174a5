#include "store/redis/key_kinds.h"

#include <algorithm>

#include "store/json/records_json.h"
#include "store/json/stored_records.h"

namespace leasehold::redis {
namespace {

bool reads(const auto& record) { return record.has_value(); }

bool is_lease(std::string_view text) { return reads(record_from_json<Lease>(text)); }
bool is_ticket(std::string_view text) { return reads(record_from_json<Ticket>(text)); }
bool is_document(std::string_view text) { return reads(leases_from_document(text)); }
bool is_answer(std::string_view text) { return reads(record_from_json<Answer>(text)); }
bool is_window(std::string_view text) { return reads(rate_window_from_json(text)); }
bool is_notice(std::string_view text) { return reads(record_from_json<Notice>(text)); }
bool is_contention(std::string_view text) { return reads(contention_from_json(text)); }
bool is_setting(std::string_view text) { return reads(record_from_json<Setting>(text)); }
bool is_session_path(std::string_view text) { return reads(session_path_from_json(text)); }

std::string to_lease(const Keys& keys, std::string_view, const std::string& member) {
  return keys.id({member});
}
std::string to_ticket(const Keys& keys, std::string_view, const std::string& member) {
  return keys.ticket({member});
}
std::string to_path(const Keys& keys, std::string_view, const std::string& member) { return keys.at(member); }
std::string to_queue(const Keys& keys, std::string_view, const std::string& member) {
  return keys.queue(member);
}
std::string to_record(const Keys& keys, std::string_view, const std::string& member) {
  return keys.lease_prefix() + member;
}
std::string to_owner(const Keys& keys, std::string_view session_id, const std::string& agent_id) {
  return keys.owner({agent_id, std::string(session_id)});
}

constexpr KeyKind kKinds[] = {
    {"session:locks:", "hash", is_session_path, nullptr, "path of a session", ValueKind::other},
    {"lease:file:", "string", is_document, nullptr, "list of leases", ValueKind::document},
    {"lease:id:", "string", is_lease, nullptr, "lease", ValueKind::lease},
    {"lease:ticket:", "string", is_ticket, nullptr, "ticket", ValueKind::ticket},
    {"lease:answer:", "string", is_answer, nullptr, "answer", ValueKind::other},
    {"lease:rate:", "string", is_window, nullptr, "count", ValueKind::other},
    {"lease:notices:", "hash", is_notice, nullptr, "notice", ValueKind::other},
    {"lease:gate:", "hash", is_contention, nullptr, "contention", ValueKind::other},
    {"lease:configs", "hash", is_setting, nullptr, "setting", ValueKind::other},
    {"lease:at:", "set", nullptr, to_lease},
    {"lease:owner:", "hash", nullptr, to_lease},
    {"lease:last:", "list", nullptr, to_lease},
    {"lease:times", "zset", nullptr, to_lease},
    {"lease:agent:", "set", nullptr, to_path},
    {"lease:pr:", "set", nullptr, to_path},
    {"lease:paths", "zset", nullptr, to_path},
    {"lease:session:", "set", nullptr, to_owner},
    {"lease:queue:", "hash", nullptr, to_ticket},
    {"lease:waits:", "set", nullptr, to_ticket},
    {"lease:tickets", "zset", nullptr, to_ticket},
    {"lease:waiting", "zset", nullptr, to_queue},
    {"lease:dirs", "hash", nullptr, to_record},
    {"lease:denied", "set"},
    {"lease:drop", "zset"},
    {"lease:history", "stream"},
    {"lease:intent", "string"},
    {"lease:guard", "string"},
    {"lease:changes", "string"},
    {"lease:format", "string"},
};

}  // namespace

std::span<const KeyKind> key_kinds() { return kKinds; }

// One of a kind is its whole name; what has parts ends with a colon.
const KeyKind* kind_of(std::string_view name) {
  const auto* found = std::ranges::find_if(kKinds, [&](const KeyKind& kind) {
    return kind.name.ends_with(':') ? name.starts_with(kind.name) : name == kind.name;
  });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace leasehold::redis
