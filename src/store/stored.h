// What stores that keep records under keys ask of them.
#pragma once

#include <optional>
#include <string>

#include "store/records.h"

namespace leasehold {

inline bool is_active(const std::optional<Lease>& lease) { return lease && lease->status == Status::active; }
inline bool is_active(const Lease* lease) { return lease != nullptr && lease->status == Status::active; }
inline bool is_pending(const std::optional<Ticket>& ticket) {
  return ticket && ticket->status == Status::pending;
}

inline InLine in_short(const Ticket& ticket) {
  const Caller& caller = ticket.request->caller;
  return {.ticket = ticket.id,
          .owner = caller.holder.owner,
          .whole_session = caller.whole_session,
          .upgrade = ticket.upgrade,
          .order = ticket.order,
          .sequence = ticket.sequence};
}

// How a session's path is called among its others: a file and the directory of the same name differ.
inline std::string session_field(const SessionPath& path) {
  return path.subtree ? path.path + "/**" : path.path;
}

}  // namespace leasehold
