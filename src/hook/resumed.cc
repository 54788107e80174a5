#include "hook/resumed.h"

#include <fmt/format.h>

#include <algorithm>

#include "hook/seen_files.h"
#include "util/path_text.h"

namespace leasehold {
namespace {

// The first that history tells of a lease is how it came about.
bool came_with(Client& client, const Lease& lease, const std::string& note) {
  const auto events = client.history({.lease_id = lease.id, .limit = 1, .oldest = true});
  return events && !events->empty() && events->front().type == EventType::acquired &&
         events->front().reason == note;
}

}  // namespace

std::string note_of_stop(const Owner& subagent) { return fmt::format("{} stopped", subagent.agent_id); }

void take_back(OpenWorkspace& workspace, const Holder& subagent, const Owner& main,
               const std::vector<WantedPath>& wanted, const std::optional<std::string>& seen_folder) {
  Listing mains = {.agent_id = main.agent_id, .session_id = main.session_id};
  for (const WantedPath& path : wanted) mains.paths.push_back(path.path);
  Client& client = *workspace.client();
  const auto leases = client.leases(mains);
  if (!leases || leases->empty()) return;
  const std::string note = note_of_stop(subagent.owner);
  Selection left;
  for (const Lease& lease : *leases) {
    const bool is_wanted =
        std::ranges::any_of(wanted, [&](const WantedPath& path) { return path.scope() == lease.scope(); });
    if (!is_wanted || !came_with(client, lease, note)) continue;
    const std::string file = join(workspace.root(), lease.path.substr(1));
    if (seen_folder && SeenFiles(*seen_folder, main).is_being_written(file)) continue;
    left.ids.push_back(lease.id);
  }
  if (left.ids.empty()) return;
  // Neither of the two does it, so that the main agent is told and nobody's notices are taken along.
  const Owner hook = {std::string(kHookAgent), main.session_id};
  [[maybe_unused]] const auto moved =
      client.transfer({.caller = {.holder = {.owner = hook}, .whole_session = true},
                       .which = std::move(left),
                       .to = subagent,
                       .note = fmt::format("{} goes on", subagent.owner.agent_id)});
}

}  // namespace leasehold
