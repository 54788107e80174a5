// The look after a command that could not be read: what it changed of others' files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hook/git_hook.h"
#include "hook/seen_files.h"
#include "leasehold/open.h"

namespace leasehold {

// In history, with the contention of whoever did it.
inline constexpr std::string_view kByCommand = "changed while a command of its ran";

// Notes which files that others hold are not there, for an owner of whom a command is the first
// that is heard: that they are gone is not its doing. After a command find_trespasses does so.
void note_gone(OpenWorkspace& workspace, SeenFiles& own, const Owner& owner);

// Which files that others hold changed since the owner's command `began`, and not by their holders' own
// tools. Only what is leased by name is looked at: one look at the store, and one at each such file. Also
// notes what became of the owner's own files. Errors: those of the store.
Result<std::vector<Trespass>> find_trespasses(OpenWorkspace& workspace, const std::string& seen_folder,
                                              SeenFiles& own, const Owner& owner,
                                              std::optional<FileTime> began);

// What the owner of new leases has in its files: so that it is known later whether they were there. For who
// takes leases by other means than hooks.
void note_granted(const OpenWorkspace& workspace, const std::vector<Lease>& leases);

// Puts it into history, for operators, as a denied write of `who`. The gate's protocol does not begin with
// it: `who` may only have run something while the holder wrote.
void record(OpenWorkspace& workspace, const Holder& who, const std::vector<Trespass>& trespasses);

// For the model whose command it was, which is `self`.
std::string aftermath_text(const std::vector<Trespass>& trespasses, const Owner& self);

}  // namespace leasehold
