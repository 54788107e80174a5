#include "engine/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/ownership.h"
#include "engine/records_at.h"
#include "engine/validate.h"

namespace leasehold {
namespace {

Filter filter_of(const Selection& which) {
  return {.agent_id = which.agent_id, .session_id = which.session_id, .pr_id = which.pr_id};
}

// A lease named twice is meant once.
template <class Name>
std::vector<Name> without_repeats(const std::vector<Name>& names) {
  std::vector<Name> unique;
  std::set<Name> seen;
  for (const Name& name : names) {
    if (seen.insert(name).second) unique.push_back(name);
  }
  return unique;
}

// The caller's leases on the path; else its last one there, which has ended; else somebody else's.
std::vector<Target> select_path(View& view, const Caller& caller, const std::string& path) {
  std::vector<Lease> leases = leases_on(view, path);
  std::vector<Target> own;
  for (Lease& lease : leases) {
    if (owns(caller, lease.holder.owner)) own.push_back({path, lease});
  }
  if (!own.empty()) return own;
  if (const std::vector<Lease> last = last_own_leases(view, caller, path); !last.empty())
    return {{path, last.front()}};
  if (!leases.empty()) return {{path, leases.front()}};
  return {{path, std::nullopt}};
}

Result<void> check_names(const Selection& which, const Policy& policy) {
  const std::size_t names = which.ids.size() + which.paths.size();
  if (names > policy.paths_max) {
    return fail(Code::limit_exceeded,
                fmt::format("The call names {} leases; one call may name {}. Name so many at a time.", names,
                            policy.paths_max));
  }
  for (const std::string& path : which.paths) {
    if (auto checked = check_key(path); !checked) return checked;
  }
  for (const LeaseId& id : which.ids) {
    if (auto checked = check_texts({{"lease id", id.text}}); !checked) return checked;
  }
  return check_texts({{"pr id", which.pr_id.value_or("")},
                      {"session id", which.session_id.value_or("")},
                      {"agent id", which.agent_id.value_or("")}});
}

}  // namespace

Result<void> check_selection(const Selection& which, const Policy& policy) {
  const int ways = (which.ids.empty() ? 0 : 1) + (which.paths.empty() ? 0 : 1) + (which.all ? 1 : 0) +
                   (which.pr_id ? 1 : 0) + (which.session_id ? 1 : 0) + (which.agent_id ? 1 : 0);
  if (ways != 1) {
    return fail(Code::invalid_argument,
                ways == 0
                    ? "The call names no leases. Say which: paths, ids, a pr, a session, an agent, or all."
                    : "The call names leases in several ways. Say in one: paths, ids, a pr, a session, an "
                      "agent, or all.");
  }
  return check_names(which, policy);
}

Filter filter_of_own(const Caller& caller, const Selection& which) {
  const Owner& self = caller.holder.owner;
  Filter filter = filter_of(which);
  if (!filter.session_id) filter.session_id = self.session_id;
  const bool any_agent = caller.whole_session && !self.session_id.empty();
  if (!filter.agent_id && !any_agent) filter.agent_id = self.agent_id;
  return filter;
}

Footprint footprint_of(const std::string& workspace, const Owner& owner, const Selection& which) {
  Footprint footprint = {.workspace = workspace, .owners = {owner}, .leases = which.ids};
  for (const std::string& path : which.paths) footprint.scopes.push_back({path, false});
  return footprint;
}

std::vector<Lease> own_leases(View& view, const Caller& caller, const Selection& which) {
  std::vector<Lease> found = view.leases(filter_of_own(caller, which));
  std::erase_if(found, [&](const Lease& lease) { return !owns(caller, lease.holder.owner); });
  return found;
}

std::vector<Target> select(View& view, const Caller& caller, const Selection& which) {
  std::vector<Target> targets;
  for (const LeaseId& id : without_repeats(which.ids)) targets.push_back({id.text, view.lease(id)});
  for (const std::string& path : without_repeats(which.paths)) {
    std::ranges::move(select_path(view, caller, path), std::back_inserter(targets));
  }
  if (!which.ids.empty() || !which.paths.empty()) return targets;

  std::vector<Lease> found = own_leases(view, caller, which);
  targets.reserve(found.size());
  for (Lease* lease : order_by_path(found)) targets.push_back({lease->path, std::move(*lease)});
  return targets;
}

std::vector<Target> select_of_anybody(View& view, const Selection& which) {
  std::vector<Target> targets;
  for (const LeaseId& id : without_repeats(which.ids)) targets.push_back({id.text, view.lease(id)});
  for (const std::string& path : without_repeats(which.paths)) {
    std::vector<Lease> leases = leases_on(view, path);
    if (leases.empty()) targets.push_back({path, std::nullopt});
    for (Lease& lease : leases) targets.push_back({path, std::move(lease)});
  }
  if (!which.ids.empty() || !which.paths.empty()) return targets;
  for (Lease& lease : by_path(view.leases(filter_of(which))))
    targets.push_back({lease.path, std::move(lease)});
  return targets;
}

}  // namespace leasehold
