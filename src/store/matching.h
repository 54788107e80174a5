// Which records a question is about.
#pragma once

#include <vector>

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

// Of events that match, oldest first, those that were asked for.
inline std::vector<Event> up_to_limit(std::vector<Event> events, const HistoryQuery& query) {
  if (query.limit == 0 || events.size() <= query.limit) return events;
  const auto surplus = static_cast<std::ptrdiff_t>(events.size() - query.limit);
  const auto first = query.oldest ? events.end() - surplus : events.begin();
  events.erase(first, first + surplus);
  return events;
}

}  // namespace leasehold
