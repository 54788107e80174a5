#include "hook/stale.h"

#include <fmt/format.h>

#include <algorithm>

#include "hook/aftermath.h"
#include "hook/reason.h"
#include "util/rfc3339.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

// Whether this line of history means that its owner could write the file, or did.
bool may_have_written(const Event& event) {
  switch (event.type) {
    case EventType::acquired:
    case EventType::renewed:
    case EventType::upgraded:
    case EventType::released:
    case EventType::expired:
      return true;
    case EventType::contended:
    case EventType::halted:
      return event.reason.contains(kByCommand);
    default:
      return false;
  }
}

// The last of the others who had the file since then, or wrote it without having it. Nobody: it was changed
// by the owner itself, or by somebody who does not ask us, which is not for us to judge.
struct Change {
  Owner owner;
  WallTime at;
};
std::optional<Change> who_changed(Client& client, const Owner& owner, const std::string& key,
                                  FileTime since) {
  const auto events =
      client.history({.path = key, .since = std::chrono::floor<std::chrono::microseconds>(since)});
  if (!events) return std::nullopt;
  std::optional<Change> last;
  for (const Event& event : *events) {
    if (event.owner != owner && may_have_written(event)) last = {event.owner, event.wall};
  }
  return last;
}

}  // namespace

std::optional<std::string> stale_reason(OpenWorkspace& workspace, SeenFiles& seen, const Owner& owner,
                                        const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const auto known = seen.find(path);
    if (!known || !seen.has_changed(path)) continue;
    const auto key = workspace.key_if_inside(path, {.literal = true});
    if (!key || !*key) continue;
    const auto change = who_changed(*workspace.client(), owner, **key, known->at);
    seen.note(path);
    if (!change) continue;
    const FileState now = state_of(path);
    const std::chrono::nanoseconds modified(now.modified_ns);
    // Of a file that is gone only the store knows when.
    const WallTime at = now.is_there()
                            ? WallTime(std::chrono::duration_cast<std::chrono::microseconds>(modified))
                            : change->at;
    return fmt::format(
        "Not written yet: {} was {} by {} at {}, after you last saw it. {}",
        shortened(in_sentence((*key)->substr(1)), 200), now.is_there() ? "changed" : "removed",
        name_of(change->owner, owner), to_rfc3339(at),
        now.is_there() ? "Read it again, then write." : "If it is to be there again, write it once more.");
  }
  return std::nullopt;
}

}  // namespace leasehold
