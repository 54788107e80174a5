#include "cli/lease_names.h"

#include <algorithm>
#include <filesystem>

#include "model/key.h"
#include "util/path_text.h"

namespace leasehold {
namespace {

struct Name {
  Result<std::string> key;             // With links followed.
  std::optional<std::string> written;  // The other one, if it is another.

  bool is_clear() const { return key && !written; }
};

// The key of a path if there were no links. None: there is no such key, or it is no file's.
std::optional<std::string> key_as_written(const std::string& root, const std::string& cwd, std::string path) {
  if (is_resource(path)) return std::nullopt;
  if (path.starts_with("file:")) {
    const auto key = key_from_wire(path);
    return key ? std::optional(*key) : std::nullopt;
  }
  std::ranges::replace(path, '\\', '/');
  const auto whole = key_from_wire(path.starts_with('/') ? path : join(cwd, path));
  const auto inside = whole ? below(*whole, root) : std::nullopt;
  return inside ? std::optional(std::string(*inside)) : std::nullopt;
}

Name name_of(Call& call, const OpenWorkspace& workspace, const std::string& path) {
  Name name = {call.key(path), key_as_written(workspace.root(), call.cwd(), path)};
  if (name.key && name.written == *name.key) name.written.reset();
  return name;
}

bool is_link(const std::string& root, const std::string& key) {
  std::error_code ignored;
  return std::filesystem::is_symlink(join(root, key.substr(1)), ignored);
}

bool is_own(const Lease& lease, const Owner& owner) {
  const Owner& holder = lease.holder.owner;
  return holder == owner || (!owner.session_id.empty() && holder.session_id == owner.session_id);
}

}  // namespace

Result<std::vector<std::string>> keys_of_leases(Call& call, const std::vector<std::string>& paths,
                                                bool own_first) {
  const auto workspace = call.workspace();
  if (!workspace) return fail(workspace.error());
  std::vector<std::string> keys;
  for (const std::string& path : paths) {
    Name name = name_of(call, **workspace, path);
    if (name.is_clear()) {
      keys.push_back(*std::move(name.key));
      continue;
    }
    if (!name.written) return fail(name.key.error());
    std::vector<std::string> candidates = {*name.written};
    if (name.key) candidates.push_back(*name.key);
    const auto board = (*workspace)->client()->board({.paths = candidates});
    if (!board) return fail(board.error());
    const auto held = [&](bool own) {
      return std::ranges::find_if(candidates, [&](const std::string& key) {
        return std::ranges::any_of(board->rows, [&](const BoardRow& row) {
          return row.live && row.lease.path == key && row.lease.status == Status::active &&
                 (!own || is_own(row.lease, call.identity().owner));
        });
      });
    };
    auto found = own_first ? held(true) : candidates.end();
    if (found == candidates.end()) found = held(false);
    if (found == candidates.end() && !name.key) return fail(name.key.error());
    keys.push_back(found != candidates.end() ? *found : *name.key);
  }
  return keys;
}

Result<std::vector<std::string>> keys_to_look_at(Call& call, const std::vector<std::string>& paths) {
  const auto workspace = call.workspace();
  if (!workspace) return fail(workspace.error());
  std::vector<std::string> keys;
  for (const std::string& path : paths) {
    Name name = name_of(call, **workspace, path);
    // A path that leads out of the workspace, or in circles, may have been a file.
    if (!name.key && !(name.written && is_link((*workspace)->root(), *name.written)))
      return fail(name.key.error());
    if (name.key) keys.push_back(*std::move(name.key));
    if (name.written) keys.push_back(*std::move(name.written));
  }
  return keys;
}

}  // namespace leasehold
