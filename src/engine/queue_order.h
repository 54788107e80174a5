// Who comes before whom. Fixed at arrival, so waiting ages by itself and nobody starves:
//
//   order = arrival - priority x 10 s
//
// A request of priority 1 passes those of priority 0 that arrived less than ten seconds before it,
// and no others. An upgrade goes before everybody who is not one: they wait for the shared lease
// that its owner already has.
#pragma once

#include <string_view>

#include "engine/policy.h"
#include "store/records.h"

namespace leasehold {

struct Rank {
  bool upgrade = false;
  Time order;
  Token sequence;
  std::string_view id = {};  // Of those who came behind somebody at one moment, two may have one sequence.
};

// A ticket's place, valid as long as the ticket. Only `upgrade` can change while it waits: who has lost the
// shared lease upgrades nothing.
inline Rank rank_of(const Ticket& ticket, bool upgrade) {
  return {upgrade, ticket.order, ticket.sequence, ticket.id.text};
}

inline Rank rank_of(const InLine& waiter) {
  return {waiter.upgrade, waiter.order, waiter.sequence, waiter.ticket.text};
}

// The place of a request that arrives now. It has no sequence yet: it is behind all its equals.
inline Rank rank_at_arrival(int priority, bool upgrade, Time now, const Policy& policy) {
  return {upgrade, now - priority * policy.priority_step, Token{UINT64_MAX}};
}

inline bool before(const Rank& a, const Rank& b) {
  if (a.upgrade != b.upgrade) return a.upgrade;
  if (a.order != b.order) return a.order < b.order;
  if (a.sequence != b.sequence) return a.sequence < b.sequence;
  return a.id < b.id;
}

}  // namespace leasehold
