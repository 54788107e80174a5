// What a store keeps besides leases and history.
#pragma once

#include "leasehold/calls.h"
#include "leasehold/lease.h"
#include "util/copy_on_write.h"

namespace leasehold {

// One waiting request. Its paths' leases exist too, with status pending. A ticket that was granted
// or failed stays for a while, so that its waiter finds out what became of it.
struct Ticket {
  GroupId id;
  std::string workspace;
  CopyOnWrite<AcquireRequest> request;  // Checked and complete: ttl, max_renewals and wait are set.
  Token sequence;                       // Breaks ties of `order`.
  Time arrival;
  Time order;            // Arrival, less ten seconds for each step of priority. Fixed for ever.
  bool upgrade = false;  // Everything it still needs, its owner holds shared.
  Time wait_until;
  Time proven_until;  // The waiter proves its life by moving this on.
  Status status = Status::pending;
  EndCause ended_by = EndCause::none;
  Time ended_at;
  std::vector<LeaseId> leases;  // Pending ones; once granted, those of the grant.
  Token token;                  // The grant's, once granted; 0 if nothing in it was new or raised.

  bool operator==(const Ticket&) const = default;
};

// Somebody who waits for a path, as far as an index tells: not for what else, nor how.
struct InLine {
  GroupId ticket;
  Owner owner;
  bool whole_session = false;
  bool upgrade = false;
  Time order;
  Token sequence;

  bool operator==(const InLine&) const = default;
};

// The answer once given under an idempotency key.
struct Answer {
  Owner owner;
  std::string key;
  std::string request_hash;
  GroupId group_id;             // The ticket, while the request waits.
  std::vector<LeaseId> leases;  // The grant's.
  bool ttl_clamped = false;
  Time drop_at;  // Earliest moment to forget it; a live lease of the grant moves it on.

  bool operator==(const Answer&) const = default;
};

// How often a session has asked in the window that is open.
struct RateWindow {
  std::string session_id;
  std::size_t calls = 0;
  Time ends_at;

  bool operator==(const RateWindow&) const = default;
};

}  // namespace leasehold
