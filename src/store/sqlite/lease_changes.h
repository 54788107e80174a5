// Leases that change alike, gathered for one statement: it opens each index once, not once for each lease.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

#include "store/sqlite/connection.h"

namespace leasehold::sqlite {

// Columns of the same name.
struct Ending {
  std::string_view status;
  std::string_view ended_by;
  std::int64_t updated_at;
  std::int64_t updated_ns;
  std::int64_t deadline_ns;
  bool operator==(const Ending&) const = default;
};

struct Term {
  std::int64_t updated_at;
  std::int64_t expires_at;
  std::int64_t ttl_seconds;
  std::int64_t expires_ns;
  std::int64_t heartbeat_ns;
  std::int64_t updated_ns;
  std::int64_t deadline_ns;
  std::int64_t ttl_ms;
  std::int64_t renewal_count;
  std::int64_t durable;  // Once it is, it stays so.
  bool operator==(const Term&) const = default;
};

class LeaseChanges {
 public:
  using Change = std::variant<Ending, Term>;

  explicit LeaseChanges(Connection& connection) : connection_(connection) {}

  // `row` is the lease's, if known: to find it by its id takes as long as to change it. Throws Failure.
  void add(const LeaseId& id, std::optional<std::int64_t> row, const Change& change);
  // Before anything else reads or writes leases, and at the end. Throws Failure.
  void write();
  // Before one is read of which no row is known.
  void write(const LeaseId& id) {
    if (ids_.contains(id)) write();
  }

 private:
  Connection& connection_;
  Change change_;
  // All get `change_`.
  std::set<std::int64_t> rows_;
  std::set<LeaseId> ids_;
};

}  // namespace leasehold::sqlite
