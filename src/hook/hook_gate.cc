// Before a tool runs: what it is about to write, in which trees, and whether it may.
#include <fmt/format.h>
#include <sys/stat.h>

#include <tuple>

#include "hook/aftermath.h"
#include "hook/asked_paths.h"
#include "hook/hook.h"
#include "hook/news.h"
#include "hook/reason.h"
#include "hook/resumed.h"
#include "hook/session_keeper.h"
#include "hook/stale.h"
#include "shell/disk_folder.h"
#include "shell/place.h"
#include "util/path_text.h"
#include "util/unique.h"
#include "workspace/trees_below.h"

namespace leasehold {
namespace {

// What files have in common that lie in one tree: their folder. But a link leads elsewhere, and a folder may
// be the top of another tree.
std::string place_in_a_tree(const std::string& file) {
  struct stat found{};
  const bool is_alone =
      ::lstat(file.c_str(), &found) == 0 && (S_ISLNK(found.st_mode) || S_ISDIR(found.st_mode));
  return is_alone ? file : file.substr(0, file.rfind('/'));
}

constexpr std::size_t kRootShown = 40;

}  // namespace

// What the tool names, and what its command line is seen to write. The rest of a command line goes on unseen.
std::vector<shell::Write> HookCall::writes() const {
  std::vector<shell::Write> writes;
  for (const std::string& path : event_->paths) writes.push_back({.path = absolute(path)});
  if (event_->command.empty()) return writes;
  const char* home = variables_("HOME");
  const shell::DiskFolder disk;
  shell::Writes found = shell::find_writes(
      event_->command, {.folder = cwd_, .home = home == nullptr ? "" : home, .files = disk});
  add_missing(writes, found.files);
  return writes;
}

// Whoever removes or moves a folder takes the work trees in it along.
std::vector<std::string> HookCall::trees_taken_along(const std::vector<shell::Write>& writes) const {
  std::vector<std::string> roots;
  TreesBelow trees;
  for (const shell::Write& write : writes) {
    struct stat found{};
    if (!write.is_whole || ::lstat(write.path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) continue;
    const auto& tree = tree_of(below(cwd_, shell::simplified(write.path)) ? cwd_ : write.path);
    if (!tree) continue;
    for (std::string& root : trees.find(*tree, resolved(write.path))) roots.push_back(std::move(root));
  }
  return roots;
}

// Each file belongs to the work tree it lies in.
std::expected<HookCall::Parts, HookAnswer> HookCall::parts_by_tree() {
  Parts parts;
  std::map<std::string, std::string> roots;  // Empty: not managed.
  const auto add = [&](const shell::Write& write, const std::string& file) -> Result<void> {
    const auto [known, is_new] = roots.try_emplace(place_in_a_tree(file));
    // Most often the same tree as before, which is open then.
    if (is_new && !parts.empty()) {
      const auto& tree = tree_of(file);
      if (tree && parts.contains(tree->root)) known->second = tree->root;
    }
    if (is_new && known->second.empty()) {
      auto opened = open(file, true);
      if (!opened && opened.error().code == Code::not_found) return {};
      if (!opened) return fail(opened.error());
      known->second = (*opened)->root();
      parts[known->second].workspace = std::move(*opened);
    }
    if (!known->second.empty()) parts[known->second].writes.push_back(write);
    return {};
  };
  const std::vector<shell::Write> all = writes();
  for (const shell::Write& write : all) {
    // A tree around us is a matter of ours.
    const bool is_around = write.subtree && below(cwd_, shell::simplified(write.path));
    const std::string file = is_around ? cwd_ + "/." : write.path;
    if (auto added = add(write, file); !added) return std::unexpected(unchecked(added.error(), file));
  }
  for (const std::string& root : trees_taken_along(all)) {
    if (auto added = add({.path = root, .subtree = true}, root); !added)
      return std::unexpected(unchecked(added.error(), root));
  }
  return parts;
}

// What belongs to one tree is granted together or not at all; what one of them refuses is not written in
// another either.
HookAnswer HookCall::at_the_gate() {
  auto parts = parts_by_tree();
  if (!parts) return std::move(parts).error();
  // The first that is heard of it here; else its session or its turn told.
  SeenFiles* const seen = seen_files();
  const bool is_first = seen != nullptr && seen->is_new();
  if (is_first) {
    note_session_in(project());
    const auto opened = event_->command.empty() ? nullptr : open(project(), false).value_or(nullptr);
    if (opened) note_gone(*opened, *seen, owner());
  }
  for (auto& [root, part] : *parts) {
    if (HookAnswer denied = gate(*part.workspace, part.writes); denied.denies()) {
      give_back_elsewhere(*part.workspace);
      return denied;
    }
    note_tree(root);
  }
  if (!event_->command.empty() && seen != nullptr) {
    // Codex does not report the end of one that failed, and runs one after the other.
    seen->note_command_begins(event_->call_id, event_->host == HookHost::codex);
  }
  return news_.empty() ? HookAnswer{} : remark(dialect(), event_->event_name, news_);
}

// What was granted to this call in other trees than the one that refuses it.
void HookCall::give_back_elsewhere(const OpenWorkspace& refusing) {
  for (const auto& [workspace, ids] : granted_) {
    if (workspace != &refusing)
      std::ignore = workspace->client()->release({.caller = caller_in(*workspace), .which = {.ids = ids}});
  }
}

// A refusal has room for what else there is to tell.
HookAnswer HookCall::deny(std::string reason) const {
  if (!news_.empty()) reason += "\n" + news_;
  return denial(host_, event_->event_name, reason);
}

// Where it has leases besides the tree it works in. Its session may end in another tree than that of a
// subagent.
void HookCall::note_tree(const std::string& root) {
  const auto& tree = tree_of(project());
  if (!tree || (tree->root == root && event_->subagent_id.empty())) return;
  SeenFiles* const seen = seen_files();
  if (seen == nullptr || seen->elsewhere().contains(root)) return;
  seen->note_elsewhere(root);
  note_session_in(root);
  if (!event_->subagent_id.empty())
    SeenFiles(*SeenFiles::folder_of(*tree), main_owner()).note_elsewhere(root);
}

HookAnswer HookCall::gate(OpenWorkspace& workspace, const std::vector<shell::Write>& writes) {
  const bool read = event_->moment == HookMoment::before_read;
  if (read && !workspace.gates_reads()) return {};
  SeenFiles* const seen = seen_files();
  const std::set<std::string> denied_before =
      seen == nullptr || read ? std::set<std::string>() : seen->denied();
  const auto inside = asked_paths(workspace, owner(), denied_before, writes, !event_->command.empty());
  if (!inside) return unchecked(inside.error(), workspace.root());
  if (inside->empty()) return {};
  auto wanted = workspace.wanted(*inside, {.pairs = !read, .literal = true});
  if (!wanted) return unchecked(wanted.error(), workspace.root());
  GateRequest request = {.read = read};
  request.wanted.caller = caller_in(workspace);
  request.wanted.paths = std::move(*wanted);
  request.wanted.attended = true;
  if (!event_->subagent_id.empty() && !read) {
    const auto& tree = tree_of(workspace.root());
    take_back(workspace, request.wanted.caller.holder, main_owner(), request.wanted.paths,
              tree ? SeenFiles::folder_of(*tree) : std::nullopt);
  }
  request.telling = can_tell_now() ? Telling::told : Telling::kept;
  const auto decided = workspace.client()->gate(request);
  if (!decided) return unchecked(decided.error(), workspace.root());
  if (const std::string text = news(*decided); !text.empty()) {
    if (request.telling == Telling::told) {
      news_ += (news_.empty() ? "" : " ") + text;
    } else if (seen != nullptr) {
      seen->note_untold(true);
    }
  }
  const auto* denied = std::get_if<Denied>(&decided->decision);
  if (denied == nullptr && !read) {
    const auto& allowed = std::get<Allowed>(decided->decision);
    keep(workspace, allowed.granted);
    for (const Lease& lease : allowed.leases) {
      if (allowed.granted && lease.acquired_at == decided->at) granted_[&workspace].push_back(lease.id);
    }
    std::vector<std::string> paths;  // What was asked for stands before its pairs.
    for (std::size_t i = 0; i < inside->size(); ++i)
      paths.push_back(join(workspace.root(), request.wanted.paths[i].path.substr(1)));
    for (const std::string& path : paths)
      if (seen != nullptr) seen->note_granted(path);
    if (const auto why = change_since_seen(workspace, paths)) return deny(*why);
  }
  if (denied == nullptr) return {};
  for (const Contention& one : denied->contentions)
    if (seen != nullptr) seen->note_denied(join(workspace.root(), one.path.substr(1)));
  // Paths are those of the tree they lie in.
  const auto& tree = tree_of(cwd_);
  const bool is_elsewhere = !tree || tree->root != workspace.root();
  const std::string before = is_elsewhere ? workspace.root() : cwd_ == workspace.root() ? "" : "file:";
  const std::string where =
      is_elsewhere ? fmt::format("In {}: ", short_name(workspace.root(), kRootShown)) : "";
  const std::string reason =
      where + short_reason(*decided, *denied, owner(), before, kReasonMost - where.size());
  return deny(std::string(shortened(reason, kReasonMost)));
}

// Where nobody sees that its agent is there. Without a process nobody could tell when to stop.
void HookCall::keep(const OpenWorkspace& workspace, bool granted) const {
  if (event_->session_id.empty() || !needs_keeper(workspace, granted)) return;
  if (const auto agent = workspace.caller_process()) ensure_keeper(workspace, event_->session_id, *agent);
}

// The lease is the owner's by then, so that it can read the file again in peace.
std::optional<std::string> HookCall::change_since_seen(OpenWorkspace& workspace,
                                                       const std::vector<std::string>& paths) {
  const auto& tree = tree_of(workspace.root());
  const auto folder = tree ? SeenFiles::folder_of(*tree) : std::nullopt;
  if (!folder) return std::nullopt;
  SeenFiles& seen = seen_in(*folder);
  if (workspace.gates_stale_reads()) {
    if (auto why = stale_reason(workspace, seen, owner(), paths)) return why;
  }
  for (const std::string& path : paths) seen.note_write_begins(path);
  return std::nullopt;
}

}  // namespace leasehold
