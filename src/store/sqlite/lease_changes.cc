#include "store/sqlite/lease_changes.h"

#include <fmt/format.h>

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
  " updated_ns = ?, deadline_ns = ?, ttl_ms = ?, renewal_count = ?, durable = max(durable, ?)"
#define OF_ONE " WHERE rowid = ?"
#define OF_MANY " WHERE rowid IN (SELECT value FROM json_each(?))"
#define OF_IDS " WHERE id IN (SELECT value FROM json_each(?))"

// One statement for each way to say which.
struct Statements {
  const char* of_one;
  const char* of_many;
  const char* of_ids;
};
constexpr Statements kEnding = {ENDING OF_ONE, ENDING OF_MANY, ENDING OF_IDS};
constexpr Statements kTerm = {TERM OF_ONE, TERM OF_MANY, TERM OF_IDS};

const Statements& statements(const Ending&) { return kEnding; }
const Statements& statements(const Term&) { return kTerm; }

void bind(Query& query, const Ending& ending) {
  query.bind_all(ending.status, ending.ended_by, ending.updated_at, ending.updated_ns, ending.deadline_ns);
}

void bind(Query& query, const Term& term) {
  query.bind_all(term.updated_at, term.expires_at, term.ttl_seconds, term.expires_ns, term.heartbeat_ns,
                 term.updated_ns, term.deadline_ns, term.ttl_ms, term.renewal_count, term.durable);
}

}  // namespace

void LeaseChanges::add(const LeaseId& id, std::optional<std::int64_t> row, const Change& change) {
  if (change != change_ || rows_.size() + ids_.size() == kMostAtOnce) write();
  change_ = change;
  if (row) {
    rows_.insert(*row);
  } else {
    ids_.insert(id);
  }
}

void LeaseChanges::write() {
  if (rows_.empty() && ids_.empty()) return;
  const std::set<std::int64_t> rows = std::exchange(rows_, {});
  const std::set<LeaseId> ids = std::exchange(ids_, {});
  const auto run = [&](const char* Statements::* which, std::string_view leases, std::size_t count) {
    std::visit(
        [&](const auto& change) {
          Query query = connection_.query(statements(change).*which);
          bind(query, change);
          query.bind(leases).run();
        },
        change_);
    if (connection_.changes() != static_cast<std::int64_t>(count))
      throw_corrupt("a lease that is not found where it was read");
  };
  if (rows.size() == 1) {
    run(&Statements::of_one, fmt::to_string(*rows.begin()), 1);
  } else if (!rows.empty()) {
    run(&Statements::of_many, fmt::format("[{}]", fmt::join(rows, ",")), rows.size());
  }
  if (!ids.empty())
    run(&Statements::of_ids, to_column(std::vector<LeaseId>(ids.begin(), ids.end())), ids.size());
}

}  // namespace leasehold::sqlite
