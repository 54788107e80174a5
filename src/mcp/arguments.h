// What several tools read from their arguments.
#pragma once

#include <optional>
#include <string_view>

#include "leasehold/calls.h"
#include "mcp/tool.h"
#include "wire/moment.h"
#include "wire/reader.h"

namespace leasehold::mcp {

// Longer than anybody waits for an answer.
inline constexpr Duration kWaitMax = std::chrono::hours(1);

// A number of seconds, whole or not, from nothing to `most`. Throws wire::Malformed, as readers do.
std::optional<Duration> seconds_at(const wire::Reader& reader, std::string_view name, Duration most);

// Which leases: `paths`, `ids` or `all`, in exactly one way. Errors: invalid_argument, those of the
// workspace.
struct Named {
  std::vector<std::string> paths;
  std::vector<std::string> ids;
  bool all = false;
};
Named read_named(const wire::Reader& reader);
Result<Selection> selection(const Named& named, Desk& desk, OpenWorkspace& workspace);

// A path as the workspace takes it. Answers name files by their keys, from the workspace's root, and what an
// answer says can be given back: "/src/a.ts" that leads out of the workspace is such a key if somebody holds
// what has it, or if this machine has no folder to put such a file into. Errors: those of the store.
Result<std::string> taken_back(const std::string& path, Desk& desk, OpenWorkspace& workspace);
Result<std::vector<AskedPath>> taken_back(std::vector<AskedPath> paths, Desk& desk, OpenWorkspace& workspace);

Result<std::vector<std::string>> keys(const std::vector<std::string>& paths, Desk& desk,
                                      OpenWorkspace& workspace);

// The same before anything was leased here.
Result<std::string> key_without_store(const std::string& path, const Desk& desk);

// When it is, for the store that has `path`.
Result<Moment> moment(Client& client, const std::string& path);
// The same for what was done to `lease`. That is told also if the store cannot be asked once more: it was
// just now.
Moment moment_of(Client& client, const Lease& lease);

// The answer of a tool that did something with several leases.
ToolAnswer outcomes_answer(Client& client, const Outcomes& outcomes);

}  // namespace leasehold::mcp
