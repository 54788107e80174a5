#include "store/redis/key_kinds.h"

#include <algorithm>

#include "model/key.h"
#include "store/json/records_json.h"
#include "store/json/stored_records.h"
#include "store/stored.h"

namespace leasehold::redis {
namespace {

using Text = std::string_view;

bool learn_document(Records& to, Text path, Text, Text value) {
  auto leases = leases_from_document(value);
  if (!leases || !std::ranges::all_of(*leases, [&](const Lease& lease) { return lease.path == path; }))
    return false;
  to.documents[std::string(path)] = std::move(*leases);
  return true;
}

bool learn_lease(Records& to, Text id, Text, Text value) {
  auto lease = record_from_json<Lease>(value);
  if (!lease || lease->id.text != id) return false;
  to.leases.emplace(id, std::move(*lease));
  return true;
}

bool learn_ticket(Records& to, Text id, Text, Text value) {
  auto ticket = record_from_json<Ticket>(value);
  if (!ticket || ticket->id.text != id) return false;
  to.tickets.push_back(std::move(*ticket));
  return true;
}

bool learn_answer(Records& to, Text owner_and_key, Text, Text value) {
  auto answer = record_from_json<Answer>(value);
  if (!answer || Keys::owner_text(answer->owner) + "/" + answer->key != owner_and_key) return false;
  to.answers.push_back(std::move(*answer));
  return true;
}

bool learn_notice(Records& to, Text owner_text, Text id, Text value) {
  auto notice = record_from_json<Notice>(value);
  if (!notice || notice->id != id || Keys::owner_text(notice->owner) != owner_text) return false;
  to.notices.push_back(std::move(*notice));
  return true;
}

bool learn_contention(Records& to, Text owner_text, Text path, Text value) {
  auto contention = contention_from_json(value);
  if (!contention || contention->path != path || Keys::owner_text(contention->owner()) != owner_text)
    return false;
  to.contentions.push_back(std::move(*contention));
  return true;
}

bool learn_window(Records&, Text, Text, Text value) { return rate_window_from_json(value).has_value(); }

bool learn_setting(Records&, Text, Text stored_key, Text value) {
  const auto setting = record_from_json<Setting>(value);
  return setting && setting->stored_key() == stored_key;
}

bool learn_session_path(Records&, Text, Text field, Text value) {
  const auto path = session_path_from_json(value);
  return path && session_field(*path) == field && key_from_wire(path->path) == path->path;
}

constexpr KeyKind kKinds[] = {
    {"session:locks:", "hash", Role::record, "path of a session", learn_session_path},
    {"lease:file:", "string", Role::record, "list of leases", learn_document},
    {"lease:id:", "string", Role::record, "lease", learn_lease},
    {"lease:ticket:", "string", Role::record, "ticket", learn_ticket},
    {"lease:answer:", "string", Role::record, "answer", learn_answer},
    {"lease:rate:", "string", Role::record, "count", learn_window},
    {"lease:notices:", "hash", Role::record, "notice", learn_notice},
    {"lease:gate:", "hash", Role::record, "contention", learn_contention},
    {"lease:configs", "hash", Role::record, "setting", learn_setting},
    {"lease:owner:", "hash", Role::index},
    {"lease:last:", "list", Role::index},
    {"lease:times", "zset", Role::index},
    {"lease:agent:", "set", Role::index},
    {"lease:pr:", "set", Role::index},
    {"lease:paths", "zset", Role::index},
    {"lease:at:", "set", Role::index},  // What format 1 had; nothing belongs in there.
    {"lease:session:", "set", Role::index},
    {"lease:queue:", "hash", Role::index},
    {"lease:waits:", "set", Role::index},
    {"lease:tickets", "zset", Role::index},
    {"lease:waiting", "zset", Role::index},
    {"lease:dirs", "hash", Role::index},
    {"lease:drop", "zset", Role::index},
    {"lease:denied", "set", Role::loose_index},
    {"lease:history", "stream"},
    {"lease:intent", "string"},
    {"lease:guard", "string"},
    {"lease:changes", "string"},
    {"lease:format", "string"},
};

}  // namespace

// One of a kind is its whole name; what has parts ends with a colon.
const KeyKind* kind_of(std::string_view name) {
  const auto* found = std::ranges::find_if(kKinds, [&](const KeyKind& kind) {
    return kind.name.ends_with(':') ? name.starts_with(kind.name) : name == kind.name;
  });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace leasehold::redis
