#include "hook/asked_paths.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/scope.h"
#include "shell/place.h"
#include "util/path_text.h"
#include "util/resolve_path.h"
#include "util/unique.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

// More than this one does not edit, one sweeps through.
constexpr std::size_t kTakenMax = 50;

// So many paths one question may name.
constexpr std::size_t kListedMax = 500;

struct Looked {
  std::string key;
  shell::Write write;
};

// Whether a file below `top` is one that is written.
bool matches(const shell::Write& write, const std::string& key, const std::string& top) {
  const auto is_named = [&](std::string_view name) {
    return fnmatch(write.name.c_str(), std::string(name).c_str(), 0) == 0;
  };
  if (write.name.empty() || is_named(std::string_view(key).substr(key.rfind('/') + 1))) return true;
  if (!write.is_deep) return false;
  std::string_view rest = std::string_view(key).substr(std::min(top.size(), key.size()));
  while (const auto segment = next_segment(rest)) {
    if (is_named(*segment)) return true;
  }
  return false;
}

// Whether it is, holds or lies in the place of one of those that are written.
bool is_among(const shell::Write& write, const std::string& place) {
  if (!write.among) return true;
  for (std::string_view above = place; above != "/"; above = parent_of(above)) {
    if (write.among->contains(above)) return true;
  }
  const auto first = write.among->lower_bound(place + '/');
  return first != write.among->end() && first->starts_with(place + '/');
}

// What others have of these, and what the owner was denied.
Result<std::vector<AskedPath>> in_the_way(OpenWorkspace& workspace, const Owner& owner,
                                          const std::set<std::string>& denied,
                                          const std::vector<Looked>& all) {
  std::set<std::string> keys;
  for (const Looked& one : all) keys.insert(one.key);
  std::map<LeaseId, Lease> leases;  // One may be around many.
  for (auto from = keys.begin(); from != keys.end();) {
    Listing some;
    while (from != keys.end() && some.paths.size() < kListedMax) some.paths.push_back(*from++);
    const auto found = workspace.client()->leases(some);
    if (!found) return fail(found.error());
    for (const Lease& lease : *found) leases.emplace(lease.id, lease);
  }
  std::vector<AskedPath> held;
  for (const std::string& path : denied) {
    const auto rest = below(path, workspace.root());
    const bool is_one = rest && std::ranges::any_of(all, [&](const Looked& one) {
                          const std::string key(*rest);
                          return covers({one.key, one.write.subtree}, {key, false}) &&
                                 matches(one.write, key, one.key) && is_among(one.write, path);
                        });
    if (is_one) held.push_back({.path = path});
  }
  for (const auto& [id, lease] : leases) {
    if (lease.holder.owner == owner || !is_path(lease.path)) continue;
    for (const Looked& one : all) {
      const bool is_below = one.write.subtree && covers({one.key, true}, lease.scope());
      const bool is_around = covers(lease.scope(), {one.key, false});
      if (is_below ? !lease.subtree && !matches(one.write, lease.path, one.key) : !is_around) continue;
      std::string path = join(workspace.root(), (is_around ? one.key : lease.path).substr(1));
      if (!is_among(one.write, shell::simplified(path))) continue;
      if (!contains(held, path, &AskedPath::path)) held.push_back({.path = std::move(path)});
      break;
    }
  }
  return held;
}

}  // namespace

Result<std::vector<AskedPath>> asked_paths(OpenWorkspace& workspace, const Owner& owner,
                                           const std::set<std::string>& denied,
                                           const std::vector<shell::Write>& writes, bool by_command) {
  std::vector<AskedPath> asked;
  std::vector<Looked> looked;
  for (const shell::Write& write : writes) {
    // What is around the whole of it is all of it.
    const bool is_around = write.subtree && below(workspace.root(), shell::simplified(write.path));
    std::string path = is_around ? workspace.root() : write.path;
    auto key = workspace.key_if_inside(path, {.literal = true});
    if (!key && by_command) {
      // A name that is not UTF-8 cannot be leased; but a link of such a name may lead to one that can.
      const auto target = resolve_path("/", path);
      const auto inside = target ? below(target->path, workspace.root()) : std::nullopt;
      if (target && (!inside || invalid_utf8_at(*inside))) continue;
      if (target) path = target->path;
      key = workspace.key_if_inside(path, {.literal = true});
    }
    if (!key) return fail(key.error());
    if (!*key) continue;  // A link may lead out of the tree.
    if (write.subtree || (by_command && writes.size() > kTakenMax)) {
      looked.push_back({**key, write});
    } else {
      asked.push_back({.path = std::move(path)});
    }
  }
  if (looked.empty()) return asked;
  auto held = in_the_way(workspace, owner, denied, looked);
  if (!held) return fail(held.error());
  for (AskedPath& path : *held) asked.push_back(std::move(path));
  return asked;
}

}  // namespace leasehold
