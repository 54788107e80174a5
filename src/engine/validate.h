#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "engine/policy.h"
#include "leasehold/calls.h"
#include "leasehold/result.h"

namespace leasehold {

// A request with nothing left to look up: ttl, max_renewals and (if it waits) wait are set.
struct CheckedRequest {
  AcquireRequest request;
  bool ttl_clamped = false;
};

// Refuses what no state of the store could grant. Errors: invalid_argument, invalid_path,
// invalid_session, limit_exceeded. Paths must be keys; repeated ones become one.
Result<CheckedRequest> check_request(AcquireRequest request, const Policy& policy);

struct CheckedTtl {
  Duration ttl{};
  bool clamped = false;
};

// Above the cap: clamped. Zero or less: invalid_argument.
Result<CheckedTtl> check_ttl(Duration ttl, const Policy& policy);

// A key in its one spelling (model/key.h). Error: invalid_path, with that spelling if there is one.
Result<void> check_key(const std::string& path);

// At most paths_max names in one call, `added` of them by pairing. Error: limit_exceeded.
Result<void> check_count(std::size_t names, const Policy& policy, std::size_t added = 0);

// Errors: invalid_argument (agent_id: 1 to 128 printable bytes), invalid_session.
Result<void> check_owner(const Owner& owner);

// The same, and that the rest of it can be kept.
Result<void> check_holder(const Holder& holder);

// The id of a session, not of none. Error: invalid_session.
Result<void> check_session(const std::string& session_id);

// What people or programs wrote, by what it is called: UTF-8, and not too long to be kept. Error:
// invalid_argument.
Result<void> check_texts(std::initializer_list<std::pair<std::string_view, std::string_view>> texts);

// Forever, as far as anybody here is concerned; beyond, adding it to a time would overflow.
Duration at_most_a_year(Duration duration);

}  // namespace leasehold
