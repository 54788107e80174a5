#include "hook/aftermath.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "hook/reason.h"
#include "model/scope.h"
#include "util/path_text.h"
#include "util/rfc3339.h"
#include "util/utf8.h"
#include "util/wall_now.h"

namespace leasehold {
namespace {

FileTime time_of(const timespec& time) {
  return FileTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

// Also when it was moved here or its mode changed, and what a link leads to when the link did. A file that is
// gone changed when its folder did; if that is gone, too, the one around it.
bool changed_since(const std::string& path, FileTime began) {
  struct stat found{};
  if (::stat(path.c_str(), &found) == 0) {
    struct stat itself{};
    const bool is_there = ::lstat(path.c_str(), &itself) == 0;
    return std::max(time_of(found.st_mtim), time_of(found.st_ctim)) >= began ||
           (is_there && time_of(itself.st_ctim) >= began);
  }
  std::string_view folder = parent_of(path);
  while (folder.size() > 1 && ::stat(std::string(folder).c_str(), &found) != 0) folder = parent_of(folder);
  return ::stat(std::string(folder).c_str(), &found) == 0 && time_of(found.st_mtim) >= began;
}

bool is_own_doing(const std::string& path, const SeenFiles& holder) {
  if (holder.is_being_written(path) || holder.runs_command()) return true;
  const auto seen = holder.find(path);
  // One that nobody ever saw there need not have been.
  if (!seen) return !state_of(path).is_there();
  return seen->state == state_of(path);
}

bool is_known_gone(const std::string& path, const SeenFiles& own) {
  const auto known = own.find(path);
  return known && !known->state.is_there();
}

// A file that is gone does not tell since when. It was before, if the owner knew it to be, and the holder has
// not seen it since.
bool was_gone(const std::string& path, const SeenFiles& own, const SeenFiles& holder) {
  if (!is_known_gone(path, own)) return false;
  const auto held = holder.find(path);
  return !held || held->at <= own.find(path)->at;
}

std::string file_of(const OpenWorkspace& workspace, const Lease& lease) {
  return join(workspace.root(), lease.path.substr(1));
}

bool is_of_a_file(const Lease& lease) { return !lease.subtree && is_path(lease.path); }

}  // namespace

void note_gone(OpenWorkspace& workspace, SeenFiles& own, const Owner& owner) {
  const auto leases = workspace.client()->leases();
  if (!leases) return;  // It is a courtesy.
  for (const Lease& lease : *leases) {
    if (!is_of_a_file(lease) || lease.holder.owner == owner) continue;
    const std::string path = file_of(workspace, lease);
    if (!state_of(path).is_there() && !is_known_gone(path, own)) own.note_state(path);
  }
}

Result<std::vector<Trespass>> find_trespasses(OpenWorkspace& workspace, const std::string& seen_folder,
                                              SeenFiles& own, const Owner& owner,
                                              std::optional<FileTime> began) {
  const auto leases = workspace.client()->leases();
  if (!leases) return fail(leases.error());
  std::vector<Trespass> trespasses;
  for (const Lease& lease : *leases) {
    if (!is_of_a_file(lease)) continue;
    const std::string path = file_of(workspace, lease);
    if (lease.holder.owner == owner) {
      if (const auto seen = own.find(path); !seen || seen->state != state_of(path)) own.note(path);
      continue;
    }
    const bool is_gone = !state_of(path).is_there();
    bool is_trespass = false;
    if (began && changed_since(path, *began)) {
      const SeenFiles holder(seen_folder, lease.holder.owner);
      is_trespass = !(is_gone && was_gone(path, own, holder)) && !is_own_doing(path, holder);
    }
    if (is_trespass) trespasses.push_back({lease.path.substr(1), lease});
    if (is_gone && (is_trespass || !is_known_gone(path, own))) own.note_state(path);
  }
  return trespasses;
}

void note_granted(const OpenWorkspace& workspace, const std::vector<Lease>& leases) {
  const auto tree = find_workspace(workspace.root());
  const auto folder = tree && tree->managed ? SeenFiles::folder_of(*tree) : std::nullopt;
  if (!folder || leases.empty()) return;
  SeenFiles seen(*folder, leases.front().holder.owner);
  for (const Lease& lease : leases) {
    if (!is_of_a_file(lease) || lease.mode != Mode::exclusive) continue;
    const std::string path = file_of(workspace, lease);
    // What it saw before is what it knows of it, even if it is another file by now.
    if (!seen.find(path)) seen.note_state(path);
  }
}

void record(OpenWorkspace& workspace, const Holder& who, const std::vector<Trespass>& trespasses) {
  const auto now = wall_now();
  for (const Trespass& trespass : trespasses) {
    GateRequest request = {.telling = Telling::kept};
    request.wanted.caller.holder = who;
    request.wanted.paths = {{.path = trespass.lease.path, .requested = false}};
    request.wanted.reason = fmt::format("{} ({})", kByCommand, to_rfc3339(now));
    [[maybe_unused]] const auto denied = workspace.client()->gate(request);
  }
}

std::string aftermath_text(const std::vector<Trespass>& trespasses, const Owner& self) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, trespasses.size()); ++i) {
    text += fmt::format("{}{} (leased by {})", i == 0 ? "" : ", ", in_sentence(trespasses[i].path),
                        name_of(trespasses[i].lease.holder.owner, self));
  }
  if (trespasses.size() > kShown) text += fmt::format(" and {} more", trespasses.size() - kShown);
  return fmt::format(
      "Changed while your command ran, although others hold it: {}. If your command did that, undo it there "
      "and "
      "leave the file to its holder; say so in your report. It was recorded (lease history).",
      text);
}

}  // namespace leasehold
