#include "store/sqlite/lease_changes.h"

#include <utility>

#include "store/sqlite/rows.h"

namespace leasehold::sqlite {
namespace {

constexpr std::size_t kMostAtOnce = 1'000;

// Neither names a column more than it must: an update rewrites every index on a column it names. OR FAIL:
// whoever sees it fail rolls all back, so SQLite need not keep what each page was before.
#define ENDING \
  "UPDATE OR FAIL leases SET status = ?, ended_by = ?, updated_at = ?, updated_ns = ?, deadline_ns = ?"
#define TERM                                                                                                 \
  "UPDATE OR FAIL leases SET updated_at = ?, expires_at = ?, ttl_seconds = ?, expires_ns = ?, heartbeat_ns " \
  "= ?,"                                                                                                     \
  " updated_ns = ?, deadline_ns = ?, ttl_ms = ?, renewal_count = ?"
#define OF_ONE " WHERE id = ?"
#define OF_MANY " WHERE id IN (SELECT value FROM json_each(?))"

void write_change(Connection& connection, const Ending& ending, bool one, std::string_view ids) {
  connection.query(one ? ENDING OF_ONE : ENDING OF_MANY)
      .bind_all(ending.status, ending.ended_by, ending.updated_at, ending.updated_ns, ending.deadline_ns, ids)
      .run();
}

void write_change(Connection& connection, const Term& term, bool one, std::string_view ids) {
  connection.query(one ? TERM OF_ONE : TERM OF_MANY)
      .bind_all(term.updated_at, term.expires_at, term.ttl_seconds, term.expires_ns, term.heartbeat_ns,
                term.updated_ns, term.deadline_ns, term.ttl_ms, term.renewal_count, ids)
      .run();
}

}  // namespace

void LeaseChanges::add(const LeaseId& id, const Change& change) {
  if (change != change_ || ids_.size() == kMostAtOnce) write();
  change_ = change;
  ids_.insert(id);
}

void LeaseChanges::write() {
  if (ids_.empty()) return;
  const std::set<LeaseId> ids = std::exchange(ids_, {});
  const bool one = ids.size() == 1;
  const std::string text = one ? ids.begin()->text : to_column(std::vector<LeaseId>(ids.begin(), ids.end()));
  std::visit([&](const auto& change) { write_change(connection_, change, one, text); }, change_);
  if (connection_.changes() != static_cast<std::int64_t>(ids.size()))
    throw_corrupt("a lease that is not found by its id");
}

}  // namespace leasehold::sqlite
