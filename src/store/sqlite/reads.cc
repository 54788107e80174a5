// What a view of the SQLite store reads.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "model/scope.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/transaction.h"

namespace leasehold::sqlite {
namespace {

template <class Record>
std::vector<Record> all(Query& query, Record (*read)(Query&)) {
  std::vector<Record> records;
  while (query.step()) records.push_back(read(query));
  return records;
}

template <class Record>
std::optional<Record> first(Query& query, Record (*read)(Query&)) {
  if (!query.step()) return std::nullopt;
  return read(query);
}

// An owner may have a hundred thousand leases.
constexpr std::size_t kRemembered = 2'000;

// Whoever looks for the newest events stops after so many that are too old. Not after the first: some may
// have been written while a clock was wrong.
constexpr std::size_t kOlderLookedAt = 10'000;

// Everything below a path lies in this range of texts: '0' comes right after '/'.
std::string end_of_range(std::string prefix) {
  prefix.back() = '0';
  return prefix;
}

std::int64_t sql_limit(std::size_t limit) {
  constexpr std::size_t kMost = std::size_t{1} << 40;
  return static_cast<std::int64_t>(std::min(limit, kMost));
}

// Binds a condition that holds for everything when nothing is asked: (?n IS NULL OR column = ?n).
void bind_if_any(Query& query, const std::optional<std::string>& value) {
  if (value) {
    query.bind(*value);
  } else {
    query.bind_null();
  }
}

void bind_filter(Query& query, const Filter& filter) {
  bind_if_any(query, filter.agent_id);
  bind_if_any(query, filter.session_id);
  bind_if_any(query, filter.pr_id);
}

}  // namespace

SqliteTransaction::SqliteTransaction(Connection& connection, std::string workspace, const StoreClock& clock,
                                     bool writes)
    : connection_(connection), workspace_(std::move(workspace)), remembers_all_(writes) {
  if (Query version = connection_.query("PRAGMA user_version");
      !version.step() || version.integer() != latest_version()) {
    throw Failure{{Code::unavailable,
                   fmt::format("{} was brought up to date by another version of Leasehold while this process "
                               "used it. Nothing was written. Start this process again.",
                               connection_.path())}};
  }
  Query query = connection_.query(
      "SELECT boot_sequence, last_sequence, last_token, alias IS NULL, alias,"
      " EXISTS (SELECT 1 FROM leases INDEXED BY idx_leases_live_subtree WHERE workspace = alias AND status ="
      " 'active' AND subtree = 1),"
      " EXISTS (SELECT 1 FROM ticket_paths WHERE workspace = alias),"
      " EXISTS (SELECT 1 FROM contentions WHERE workspace = alias)"
      " FROM store LEFT JOIN workspaces ON name = ?");
  if (!query.bind(workspace_).step()) throw_corrupt("no row in the table 'store'");
  numbers_.boot_sequence = static_cast<std::uint64_t>(query.integer());
  numbers_.last_sequence = static_cast<std::uint64_t>(query.integer());
  numbers_.last_token = static_cast<std::uint64_t>(query.integer());
  const bool is_new = query.integer() != 0;
  alias_ = query.text();
  has_subtrees_ = query.integer() != 0;
  has_waiters_ = query.integer() != 0;
  has_contentions_ = query.integer() != 0;
  if (is_new) {
    // No name begins like this.
    Query next = connection_.query("SELECT '#' || (count(*) + 1) FROM workspaces");
    next.step();
    alias_ = next.text();
    changes_before_new_ = connection_.total_changes();
  }
  // Read after the snapshot was taken: nothing in it is from later than now.
  now_ = clock.now();
  wall_ = clock.wall();
}

bool SqliteTransaction::is_large() const { return !remembers_all_ || leases_.size() >= kRemembered; }

Query SqliteTransaction::on_leases(const char* sql) {
  lease_changes_.write();
  return connection_.query(sql);
}

Lease SqliteTransaction::read_row(Query& row) {
  Lease lease = read_lease(row, workspace_);
  remembers_all_ &= leases_.size() < kRemembered;
  if (remembers_all_) leases_.insert_or_assign(lease.id.text, Stored{lease, row.integer()});
  return lease;
}

std::vector<Lease> SqliteTransaction::all_leases(Query& query) {
  std::vector<Lease> leases;
  while (query.step()) leases.push_back(read_row(query));
  return leases;
}

std::vector<Lease> SqliteTransaction::leases_at(const Scope& scope) {
  Query at = on_leases("SELECT " LEASE_COLUMNS
                       " FROM leases INDEXED BY idx_leases_file_status WHERE workspace = ? AND file_path = ?"
                       " AND status = 'active'");
  std::vector<Lease> found = all_leases(at.bind_all(alias_, scope.path));
  if (has_subtrees_) {
    for (const std::string& above : ancestors(scope.path)) {
      Query subtree = on_leases("SELECT " LEASE_COLUMNS
                                " FROM leases INDEXED BY idx_leases_live_subtree WHERE workspace = ? AND"
                                " file_path = ? AND status = 'active' AND subtree = 1");
      std::ranges::move(all_leases(subtree.bind_all(alias_, above)), std::back_inserter(found));
    }
  }
  if (scope.subtree && is_path(scope.path)) {
    const std::string prefix = prefix_below(scope.path);
    // Not the path itself again: "/" is in its own range.
    Query below =
        on_leases("SELECT " LEASE_COLUMNS
                  " FROM leases INDEXED BY idx_leases_file_status WHERE workspace = ? AND file_path >= ?"
                  " AND file_path < ? AND file_path <> ? AND status = 'active'");
    const std::string end = end_of_range(prefix);
    std::ranges::move(all_leases(below.bind_all(alias_, prefix, end, scope.path)), std::back_inserter(found));
  }
  return found;
}

std::vector<Ticket> SqliteTransaction::tickets_at(const std::vector<Scope>& scopes) {
  if (!has_waiters_) return {};
  std::set<std::string_view> ids;
  for (const Scope& scope : scopes) {
    auto known = waiting_at_.find(scope);
    if (known == waiting_at_.end()) known = waiting_at_.emplace(scope, find_waiting(scope)).first;
    ids.insert(known->second.begin(), known->second.end());
  }
  std::vector<Ticket> found;
  found.reserve(ids.size());
  for (const std::string_view id : ids) found.push_back(tickets_.at(std::string(id)));
  return found;
}

std::vector<InLine> SqliteTransaction::line_at(const std::string& path) {
  if (!has_waiters_) return {};
  std::vector<InLine> line;
  std::vector<std::string> places = ancestors(path);
  places.push_back(path);
  for (const std::string& place : places) {
    Query at =
        connection_.query("SELECT " IN_LINE_COLUMNS
                          " FROM ticket_paths WHERE workspace = ? AND file_path = ? AND (subtree = 1 OR ?)");
    at.bind_all(alias_, place, std::int64_t{place == path});
    // One may wait for a directory and for what is in it.
    const std::size_t from_above = line.size();
    while (at.step()) {
      InLine waiter = read_in_line(at);
      const auto above = std::span(line).first(from_above);
      if (std::ranges::find(above, waiter.ticket, &InLine::ticket) == above.end())
        line.push_back(std::move(waiter));
    }
  }
  return line;
}

std::set<std::string> SqliteTransaction::find_waiting(const Scope& scope) {
  std::set<std::string> ids;
  std::vector<std::string> places = ancestors(scope.path);
  places.push_back(scope.path);
  for (const std::string& place : places) {
    Query at = connection_.query("SELECT ticket_id, " TICKET_COLUMNS
                                 " FROM ticket_paths JOIN tickets ON tickets.id = ticket_id WHERE"
                                 " ticket_paths.workspace = ? AND file_path = ? AND (subtree = 1 OR ?)");
    at.bind_all(alias_, place, std::int64_t{place == scope.path});
    while (at.step()) ids.insert(read_ticket_once(at).id.text);
  }
  if (scope.subtree && is_path(scope.path)) {
    const std::string prefix = prefix_below(scope.path);
    const std::string end = end_of_range(prefix);
    Query below = connection_.query("SELECT ticket_id, " TICKET_COLUMNS
                                    " FROM ticket_paths JOIN tickets ON tickets.id = ticket_id WHERE"
                                    " ticket_paths.workspace = ? AND file_path >= ? AND file_path < ?");
    below.bind_all(alias_, prefix, end);
    while (below.step()) ids.insert(read_ticket_once(below).id.text);
  }
  return ids;
}

// The row has the id in front.
const Ticket& SqliteTransaction::read_ticket_once(Query& row) {
  const auto [place, is_new] = tickets_.try_emplace(std::string(row.text()));
  if (is_new) place->second = read_ticket(row, workspace_);
  return place->second;
}

std::optional<Lease> SqliteTransaction::lease(const LeaseId& id) {
  if (const auto known = leases_.find(id.text); known != leases_.end()) return known->second.lease;
  return read(id);
}

std::optional<Lease> SqliteTransaction::read(const LeaseId& id) {
  lease_changes_.write(id);
  Query query = connection_.query("SELECT " LEASE_COLUMNS " FROM leases WHERE id = ? AND workspace = ?");
  if (!query.bind_all(id.text, alias_).step()) return std::nullopt;
  return read_row(query);
}

std::optional<Ticket> SqliteTransaction::ticket(const GroupId& id) {
  if (const auto known = tickets_.find(id.text); known != tickets_.end()) return known->second;
  Query query =
      connection_.query("SELECT id, " TICKET_COLUMNS " FROM tickets WHERE id = ? AND workspace = ?");
  if (!query.bind_all(id.text, alias_).step()) return std::nullopt;
  return read_ticket_once(query);
}

std::optional<Lease> SqliteTransaction::last_lease(const Owner& owner, const std::string& path) {
  return newest_at(path, owner.session_id, owner.agent_id);
}

std::optional<Lease> SqliteTransaction::last_lease_in(const std::string& session_id,
                                                      const std::string& path) {
  return newest_at(path, session_id, std::nullopt);
}

std::optional<Lease> SqliteTransaction::newest_at(const std::string& path, const std::string& session_id,
                                                  const std::optional<std::string>& agent_id) {
  Query query = on_leases("SELECT " LEASE_COLUMNS
                          " FROM leases INDEXED BY idx_leases_file_path WHERE file_path = ?1"
                          " AND session_id = ?2 AND workspace = ?3 AND (?4 IS NULL OR agent_id = ?4)"
                          " AND status NOT IN ('pending', 'failed') ORDER BY rowid DESC LIMIT 1");
  query.bind_all(path, session_id, alias_);
  bind_if_any(query, agent_id);
  if (!query.step()) return std::nullopt;
  return read_row(query);
}

std::vector<std::string> SqliteTransaction::agents_in(const std::string& session_id) {
  std::set<std::string> agents;
  Query query = connection_.query("SELECT agent_id FROM owners WHERE workspace = ? AND session_id = ?");
  query.bind_all(alias_, session_id);
  while (query.step()) agents.emplace(query.text());
  for (const auto& [owner, change] : counts_) {
    if (owner.session_id == session_id) agents.insert(owner.agent_id);
  }
  return {agents.begin(), agents.end()};
}

std::vector<Lease> SqliteTransaction::leases(const Filter& filter) {
  if (filter.session_id && !filter.agent_id) {
    // No index leads from a session to its leases, but its agents are few.
    std::vector<Lease> found;
    for (const std::string& agent : agents_in(*filter.session_id)) {
      std::ranges::move(leases({agent, filter.session_id, filter.pr_id}), std::back_inserter(found));
    }
    return found;
  }
  // The narrowest index that serves; the rest of the filter is compared.
#define ACTIVE(index, condition)                               \
  "SELECT " LEASE_COLUMNS " FROM leases INDEXED BY " index     \
  " WHERE workspace = ?1 AND status = 'active' AND " condition \
  " AND (?2 IS NULL OR agent_id = ?2)"                         \
  " AND (?3 IS NULL OR session_id = ?3) AND (?4 IS NULL OR pr_id = ?4)"
  const char* sql = ACTIVE("idx_leases_file_status", "TRUE");
  if (filter.agent_id && filter.session_id) {
    sql = ACTIVE("idx_leases_agent_status", "agent_id = ?2 AND session_id = ?3");
  } else if (filter.agent_id) {
    sql = ACTIVE("idx_leases_agent_status", "agent_id = ?2");
  } else if (filter.pr_id && !filter.pr_id->empty()) {
    sql = ACTIVE("idx_leases_live_pr", "pr_id = ?4 AND pr_id <> ''");
  }
#undef ACTIVE
  Query query = on_leases(sql);
  query.bind(alias_);
  bind_filter(query, filter);
  return all_leases(query);
}

std::vector<Ticket> SqliteTransaction::tickets(const Filter& filter) {
  if (!has_waiters_) return {};
  Query query = connection_.query(
      "SELECT id, " TICKET_COLUMNS
      " FROM tickets INDEXED BY idx_tickets_when WHERE workspace = ?1 AND status = 'pending' AND"
      " (?2 IS NULL OR agent_id = ?2) AND (?3 IS NULL OR session_id = ?3) AND (?4 IS NULL OR pr_id = ?4)");
  query.bind(alias_);
  bind_filter(query, filter);
  return all_tickets(query);
}

std::vector<Ticket> SqliteTransaction::all_tickets(Query& query) {
  std::vector<Ticket> found;
  while (query.step()) found.push_back(read_ticket_once(query));
  return found;
}

std::size_t SqliteTransaction::lease_count(const Owner& owner) {
  Query query =
      connection_.query("SELECT leases FROM owners WHERE workspace = ? AND agent_id = ? AND session_id = ?");
  std::int64_t held = 0;
  if (query.bind_all(alias_, owner.agent_id, owner.session_id).step()) held = query.integer();
  if (const auto changed = counts_.find(owner); changed != counts_.end()) held += changed->second;
  return static_cast<std::size_t>(std::max<std::int64_t>(held, 0));
}

std::vector<Notice> SqliteTransaction::notices(const Owner& owner) {
  Query query = connection_.query("SELECT " NOTICE_COLUMNS
                                  " FROM notices WHERE workspace = ? AND agent_id = ? AND session_id = ?");
  return all(query.bind_all(alias_, owner.agent_id, owner.session_id), read_notice);
}

std::optional<Answer> SqliteTransaction::answer(const Owner& owner, const std::string& key) {
  Query query =
      connection_.query("SELECT " ANSWER_COLUMNS
                        " FROM answers WHERE workspace = ? AND agent_id = ? AND session_id = ? AND key = ?");
  return first(query.bind_all(alias_, owner.agent_id, owner.session_id, key), read_answer);
}

std::optional<Contention> SqliteTransaction::contention(const Owner& owner, const std::string& path) {
  if (!has_contentions_) return std::nullopt;
  Query query = connection_.query(
      "SELECT contention FROM contentions WHERE workspace = ? AND agent_id = ? AND session_id = ? AND"
      " file_path = ?");
  return first(query.bind_all(alias_, owner.agent_id, owner.session_id, path), read_contention);
}

std::vector<Contention> SqliteTransaction::contentions(const Filter& filter) {
  if (!has_contentions_) return {};
  Query query = connection_.query(
      "SELECT contention FROM contentions WHERE workspace = ?1 AND (?2 IS NULL OR agent_id = ?2) AND"
      " (?3 IS NULL OR session_id = ?3) AND (?4 IS NULL OR pr_id = ?4)");
  query.bind(alias_);
  bind_filter(query, filter);
  return all(query, read_contention);
}

Due SqliteTransaction::due(Time moment, std::size_t limit) {
  Query leases = on_leases("SELECT " LEASE_COLUMNS
                           " FROM leases INDEXED BY idx_leases_expires_at WHERE workspace = ? AND"
                           " deadline_ns <= ? AND status = 'active'"
                           " ORDER BY deadline_ns LIMIT ?");
  Due found = {.leases = all_leases(leases.bind_all(alias_, to_column(moment), sql_limit(limit)))};
  if (!has_waiters_) return found;
  Query tickets = connection_.query(
      "SELECT id, " TICKET_COLUMNS
      " FROM tickets INDEXED BY idx_tickets_when WHERE workspace = ? AND deadline_ns <= ? AND"
      " status = 'pending' ORDER BY deadline_ns LIMIT ?");
  found.tickets = all_tickets(tickets.bind_all(alias_, to_column(moment), sql_limit(limit)));
  return found;
}

std::vector<Event> SqliteTransaction::history(const HistoryQuery& query) {
#define EVENTS(which, order)                                                                                \
  "SELECT " EVENT_COLUMNS " FROM lease_history " which                                                      \
  " AND id > ?1"                                                                                            \
  " AND (?4 IS NULL OR agent_id = ?4) AND (?5 IS NULL OR lease_id = ?5) AND (?6 IS NULL OR event_us >= ?6)" \
  " ORDER BY " order " LIMIT ?7"
#define AT_PATH "INDEXED BY idx_lease_history_path WHERE workspace = ?2 AND file_path = ?3"
#define ANYWHERE "INDEXED BY idx_lease_history_workspace WHERE workspace = ?2 AND ?3 IS NULL"
  const bool oldest = query.oldest && query.limit > 0;
  const char* sql = query.path ? (oldest ? EVENTS(AT_PATH, "id") : EVENTS(AT_PATH, "id DESC"))
                               : (oldest ? EVENTS(ANYWHERE, "id") : EVENTS(ANYWHERE, "id DESC"));
#undef EVENTS
#undef AT_PATH
#undef ANYWHERE
  const std::string after = sequence_text(query.after);
  const auto lease_id = query.lease_id ? std::optional(query.lease_id->text) : std::nullopt;
  Query rows = connection_.query(sql);
  rows.bind_all(after, alias_);
  bind_if_any(rows, query.path);
  bind_if_any(rows, query.agent_id);
  bind_if_any(rows, lease_id);
  rows.bind(query.since && oldest ? std::optional(to_column(*query.since)) : std::nullopt);
  rows.bind(query.limit == 0 || query.since ? -1 : sql_limit(query.limit));
  std::vector<Event> events;
  std::size_t too_old = 0;
  while (too_old < kOlderLookedAt && (query.limit == 0 || events.size() < query.limit) && rows.step()) {
    Event event = read_event(rows);
    if (query.since && event.wall < *query.since) {
      ++too_old;
    } else {
      events.push_back(std::move(event));
    }
  }
  if (!oldest) std::ranges::reverse(events);
  for (Event& event : events) {
    // The time line of an earlier boot is gone; people's clocks go on.
    if (event.sequence <= numbers_.boot_sequence) event.at = std::min(Time{}, now_ + (event.wall - wall_));
  }
  return events;
}

std::vector<Setting> SqliteTransaction::settings() {
  Query rows = connection_.query("SELECT " SETTING_COLUMNS " FROM lease_configs ORDER BY config_key");
  return all(rows, read_setting);
}

}  // namespace leasehold::sqlite
