// What is to become of one file, decided before anything is written.
#pragma once

#include <string>

#include "init/hook_settings.h"
#include "leasehold/result.h"

namespace leasehold {

struct FileChange {
  std::string path;  // Absolute.
  FileText before;
  FileText after;           // Nothing: it is removed.
  int own_folders = 0;      // As many folders around it go with it, if it was the last there.
  bool executable = false;  // Whether it can be run afterwards.
  bool lacks_mode = false;  // It is there, and cannot be run although it should.

  bool is_needed() const { return before != after || lacks_mode; }
};

// A file that settings or hooks should be in; nothing if it or its folder does not exist. Error: config_error
// (it cannot be read, or is larger than any such file).
Result<FileText> read_settings(const std::string& path);

// Whether it can be made, as far as one can tell before: there is a folder for it, or one can be made, in
// which we may write. Error: config_error, with what to do.
Result<void> check_place(const FileChange& change);

// Whether a file is there that nobody may run.
bool is_not_runnable(const std::string& path);

// Makes the change as a whole or not at all. A file that exists keeps its mode, but can be run if it should;
// a link stays one, and what it leads to is changed. Errors: unavailable (with what to do),
// transaction_conflict (somebody changed it meanwhile).
Result<void> apply(const FileChange& change);

// The change as `diff -u` would show it, named `name`; empty if there is none.
std::string unified_diff(const FileChange& change, std::string_view name);

}  // namespace leasehold
