// What each coding agent has to be told so that it asks us: in which file, at which events, with which
// command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hook/hook_host.h"

namespace leasehold {

struct HookGroup {
  std::string event;
  std::string matcher;   // Empty: the event has none.
  std::string handler;   // JSON, in one line.
  bool is_flat = false;  // The handler itself is the element of the event's list, with its matcher.

  // The element of the event's list, in one line.
  std::string text() const;
};

// What a model is told whose write is blocked because lease is missing or broken.
inline constexpr std::string_view kNobodyAsked =
    "lease could not be asked about this write. Is it installed?";

struct HookWishes {
  bool fail_open = false;  // Setting gate_fail_open: a write passes when nobody can be asked about it.
  bool reads = false;      // Setting gate_reads.
};

// The groups of a host, in the order in which they are to stand. None: its hooks are files of their own.
std::vector<HookGroup> hook_groups(HookHost host, const HookWishes& wishes);

// Whether a handler of a host's settings, as JSON, is one of ours: of this version or another.
bool is_our_handler(HookHost host, std::string_view handler);

// Where in a project the host reads its hooks from: a JSON file, which may have others' too.
std::string_view hooks_file(HookHost host);
// Whether a new file of this host has to say that it is of version 1.
bool has_version(HookHost host);

// A file that is ours as a whole.
struct OwnFile {
  std::string path;  // In the project.
  std::string text;
  bool executable = false;
};
std::vector<OwnFile> own_files(HookHost host, const HookWishes& wishes);

// Whether a file at such a place is ours, of this version or another.
bool is_our_file(std::string_view text);

// The programs and folders by which a host is known to be installed.
struct HostSigns {
  std::string_view program;         // On PATH.
  std::string_view home_variable;   // Where its own folder is,
  std::string_view home_folder;     // else in HOME.
  std::string_view project_folder;  // What it leaves in projects.
};
const HostSigns& signs_of(HookHost host);

// What its users have to do besides, so that it runs its hooks; a sentence. Empty: nothing.
std::string_view condition_of(HookHost host);

}  // namespace leasehold
