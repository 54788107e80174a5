#include "mcp/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "util/wall_now.h"
#include "wire/answer_json.h"
#include "workspace/path_intake.h"

namespace leasehold::mcp {
namespace {

// Whether there is such a file on this machine, or could be one: whoever means one in "/" itself is not an
// agent at work.
bool could_be_on_disk(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error))) return true;
  const std::filesystem::path folder = path.parent_path();
  return folder != folder.root_path() && std::filesystem::exists(folder, error);
}

// A lease on everything says nothing about what somebody means by a path.
bool is_at(const BoardRow& row) { return row.live && row.lease.path != "/"; }

}  // namespace

std::optional<Duration> seconds_at(const wire::Reader& reader, std::string_view name, Duration most) {
  const json::value* const found = reader.find(name);
  if (found == nullptr) return std::nullopt;
  const double limit = std::chrono::duration<double>(most).count();
  const auto number = json::try_value_to<double>(*found);
  if (!number || !(*number >= 0) || *number > limit) {
    throw wire::Malformed{fmt::format("{} has to be a number of seconds, from 0 to {}.", name, limit)};
  }
  return Duration(std::llround(*number * 1000));
}

Named read_named(const wire::Reader& reader) {
  Named named;
  reader.get("paths", named.paths);
  reader.get("ids", named.ids);
  reader.get("all", named.all);
  return named;
}

Result<std::string> taken_back(const std::string& path, Desk& desk, OpenWorkspace& workspace) {
  if (!path.starts_with('/')) return path;
  const PathOptions options = {.cwd = desk.place()};
  const auto inside = workspace.key_if_inside(path, options);
  if (inside && *inside) return path;
  std::string as_key = "file:" + path;
  const auto key = workspace.key(as_key, options);
  if (!key) return path;  // And what is wrong with that is told.
  if (desk.is_known_key(path) || (desk.sees_disk() && !could_be_on_disk(path))) return as_key;
  const auto board = workspace.client()->board({.paths = {*key}});
  if (!board) return fail(board.error());
  if (std::ranges::none_of(board->rows, is_at)) return path;
  desk.note_key(path);
  return as_key;
}

Result<std::vector<AskedPath>> taken_back(std::vector<AskedPath> paths, Desk& desk,
                                          OpenWorkspace& workspace) {
  for (AskedPath& asked : paths) {
    auto path = taken_back(asked.path, desk, workspace);
    if (!path) return fail(path.error());
    asked.path = *std::move(path);
  }
  return paths;
}

Result<std::vector<std::string>> keys(const std::vector<std::string>& paths, Desk& desk,
                                      OpenWorkspace& workspace) {
  std::vector<std::string> keys;
  for (const std::string& path : paths) {
    const auto spelled = taken_back(path, desk, workspace);
    if (!spelled) return fail(spelled.error());
    auto key = workspace.key(*spelled, {.cwd = desk.place()});
    if (!key) return fail(key.error());
    keys.push_back(*std::move(key));
  }
  return keys;
}

Result<std::string> key_without_store(const std::string& path, const Desk& desk) {
  const auto workspace = find_workspace(desk.place());
  if (!workspace) return fail(workspace.error());
  auto key = key_from_os(*workspace, {.path = path, .cwd = desk.place()});
  if (key || !path.starts_with('/') || could_be_on_disk(path)) return key;
  const std::string as_key = "file:" + path;
  return key_from_os(*workspace, {.path = as_key, .cwd = desk.place()});
}

Result<Selection> selection(const Named& named, Desk& desk, OpenWorkspace& workspace) {
  const int ways = (named.all ? 1 : 0) + (named.ids.empty() ? 0 : 1) + (named.paths.empty() ? 0 : 1);
  if (ways != 1) {
    return fail(Code::invalid_argument,
                fmt::format("{} Give paths, or ids, or all: true.",
                            ways == 0 ? "Which leases?" : "Leases are named in one way at a time."));
  }
  Selection which = {.all = named.all};
  for (const std::string& id : named.ids) which.ids.push_back({id});
  auto found = keys(named.paths, desk, workspace);
  if (!found) return fail(found.error());
  which.paths = *std::move(found);
  return which;
}

Result<Moment> moment(Client& client, const std::string& path) {
  const auto board = client.board({.paths = {path}});
  if (!board) return fail(board.error());
  return Moment{board->now, board->wall};
}

Moment moment_of(Client& client, const Lease& lease) {
  return moment(client, lease.path).value_or(Moment{lease.updated_at, wall_now()});
}

ToolAnswer outcomes_answer(Client& client, const Outcomes& outcomes) {
  Moment at;
  const auto known =
      std::ranges::find_if(outcomes.outcomes, [](const Outcome& one) { return one.lease.has_value(); });
  if (known != outcomes.outcomes.end()) at = moment_of(client, *known->lease);
  ToolAnswer answer = {.document = outcomes_json(outcomes, at)};
  for (const Outcome& one : outcomes.outcomes) {
    answer.is_error |= one.error.has_value();
    if (one.lease && one.lease->status != Status::active) answer.told.over.push_back(one.lease->id);
  }
  return answer;
}

}  // namespace leasehold::mcp
