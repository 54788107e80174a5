#include "hook/git_hook.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "engine/ownership.h"
#include "hook/hook_host.h"
#include "model/key.h"
#include "model/scope.h"
#include "run/capture.h"

namespace leasehold {
namespace {

constexpr std::size_t kAtOnce = 500;

std::vector<std::string> split_at_nul(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

struct NamedFile {
  std::string path;  // As git names it: from the top of the work tree.
  std::string key;
};

// Whether a line of git's raw format, ":OLD NEW ...", is about a link alone, as it was and as it is to be.
// Nobody leases a link, but what it leads to. A file that a link takes the place of is a file.
bool is_link(std::string_view line) {
  constexpr std::size_t kMode = 6;
  const std::string_view modes[] = {line.substr(1, kMode), line.substr(kMode + 2, kMode)};
  return std::ranges::all_of(modes, [](auto mode) { return mode == "120000" || mode == "000000"; });
}

// What a diff in git's raw format names, without what nobody can lease: links, and names that are no path of
// ours. Paths are taken as they are: what git tracks lies behind no link, whatever the disk has there now.
Result<std::vector<NamedFile>> files_named(const std::vector<std::string>& git) {
  const auto text = capture(git);
  if (!text) return fail(text.error());
  std::vector<std::string> parts = split_at_nul(*text);
  std::vector<NamedFile> files;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    constexpr std::size_t kModes = 14;  // ":100644 120000"
    if (parts[i].size() < kModes || parts[i][0] != ':')
      return fail(Code::corrupt, "What git says of the commit cannot be read.");
    std::string& path = parts[i + 1];
    if (is_link(parts[i]) || !check_path_text(path)) continue;
    if (auto key = path_key(path, path)) files.push_back({std::move(path), *std::move(key)});
  }
  return files;
}

template <class Each>
Result<void> in_parts(std::span<const NamedFile> files, const Each& each) {
  for (std::size_t begin = 0; begin < files.size(); begin += kAtOnce) {
    const auto part = files.subspan(begin, std::min(kAtOnce, files.size() - begin));
    std::vector<std::string> keys;
    for (const NamedFile& file : part) keys.push_back(file.key);
    if (auto done = each(part, std::move(keys)); !done) return done;
  }
  return {};
}

// Whether hooks took it: what people name themselves, several may use in one shell.
bool is_hosts(const Owner& owner) {
  return host_named(std::string_view(owner.agent_id).substr(0, owner.agent_id.find('/'))).has_value();
}

// The caller, and whoever else of those that hold these files is the same agent.
Result<std::vector<Caller>> callers(OpenWorkspace& workspace, const Committer& who,
                                    const std::vector<std::string>& keys) {
  std::vector<Caller> all = {who.caller};
  if (!who.agent && !who.process) return all;
  const auto leases = workspace.client()->leases({.paths = keys});
  if (!leases) return fail(leases.error());
  for (const Lease& lease : *leases) {
    const bool is_known =
        std::ranges::any_of(all, [&](const Caller& one) { return owns(one, lease.holder.owner); });
    if (!is_known && who.owns(lease.holder)) all.push_back({.holder = {.owner = lease.holder.owner}});
  }
  return all;
}

}  // namespace

bool Committer::owns(const Holder& holder) const {
  if (leasehold::owns(caller, holder.owner)) return true;
  if (process && holder.process == process && is_hosts(holder.owner)) return true;
  return agent && !agent->session_id.empty() && agent->session_id == holder.owner.session_id;
}

Result<std::vector<Trespass>> before_commit(OpenWorkspace& workspace, const Committer& who) {
  const auto files =
      files_named({"git", "diff", "--cached", "--raw", "--no-renames", "--ignore-submodules=none", "-z"});
  if (!files) return fail(files.error());
  std::vector<Trespass> found;
  const auto looked = in_parts(*files, [&](auto part, std::vector<std::string> keys) -> Result<void> {
    const auto leases = workspace.client()->leases({.paths = std::move(keys)});
    if (!leases) return fail(leases.error());
    for (const Lease& lease : *leases) {
      if (who.owns(lease.holder)) continue;
      for (const NamedFile& file : part) {
        if (covers(lease.scope(), {file.key, false})) found.push_back({file.path, lease});
      }
    }
    return {};
  });
  if (!looked) return fail(looked.error());
  std::ranges::sort(found, {}, &Trespass::path);
  return found;
}

Result<GivenBack> after_commit(OpenWorkspace& workspace, const Committer& who) {
  auto files = files_named({"git", "diff-tree", "--no-commit-id", "--raw", "--no-renames", "-r", "--root",
                            "-m", "--first-parent", "-z", "HEAD"});
  if (!files) return fail(files.error());
  for (const LeaseId& id : who.kept) {
    const auto lease = workspace.client()->lease(id);
    if (lease && lease->status == Status::active)
      std::erase_if(*files, [&](const NamedFile& file) { return file.key == lease->path; });
  }
  GivenBack released;
  const auto done = in_parts(*files, [&](auto, const std::vector<std::string>& keys) -> Result<void> {
    const auto all = callers(workspace, who, keys);
    if (!all) return fail(all.error());
    for (const Caller& caller : *all) {
      auto outcomes = workspace.client()->release({.caller = caller, .which = {.paths = keys}});
      if (!outcomes) return fail(outcomes.error());
      // Most of them were never held, and some are others'.
      released.count += static_cast<std::size_t>(std::ranges::count_if(
          outcomes->outcomes, [](const Outcome& one) { return !one.error && !one.already; }));
      std::ranges::move(outcomes->notices, std::back_inserter(released.notices));
    }
    return {};
  });
  if (!done) return fail(done.error());
  return released;
}

}  // namespace leasehold
