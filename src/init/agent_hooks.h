// What each coding agent has to be told so that it asks us: in which file, at which events, with which
// command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hook/hook_event.h"

namespace leasehold {

struct HookGroup {
  std::string event;
  std::string matcher;  // Empty: the event has none.
  std::string handler;  // JSON, in one line.

  // The element of the event's list, in one line.
  std::string text() const;
};

struct HookWishes {
  bool fail_open = false;  // Setting gate_fail_open: a write passes when nobody can be asked about it.
  bool reads = false;      // Setting gate_reads.
};

// The groups of a host, in the order in which they are to stand.
std::vector<HookGroup> hook_groups(HookHost host, const HookWishes& wishes);

// Whether a group of a host's settings, as JSON, is one of ours: of this version or another.
bool is_our_group(HookHost host, std::string_view group);

// Where in a project the host reads its hooks from.
std::string_view hooks_file(HookHost host);

// The programs and folders by which a host is known to be installed.
struct HostSigns {
  std::string_view program;         // On PATH.
  std::string_view home_variable;   // Where its own folder is,
  std::string_view home_folder;     // else in HOME.
  std::string_view project_folder;  // What it leaves in projects.
};
const HostSigns& signs_of(HookHost host);

}  // namespace leasehold
