// Which records a question is about.
#pragma once

#include "leasehold/calls.h"
#include "store/store.h"

namespace leasehold {

inline bool matches(const Filter& filter, const Holder& holder) {
  return (!filter.agent_id || *filter.agent_id == holder.owner.agent_id) &&
         (!filter.session_id || *filter.session_id == holder.owner.session_id) &&
         (!filter.pr_id || *filter.pr_id == holder.pr_id);
}

inline bool matches(const HistoryQuery& query, const Event& event) {
  return event.sequence > query.after && (!query.path || event.path == *query.path) &&
         (!query.agent_id || event.owner.agent_id == *query.agent_id) &&
         (!query.lease_id || event.lease_id == *query.lease_id) &&
         (!query.since || event.wall >= *query.since);
}

}  // namespace leasehold
