// find(1)'s expressions: what is done, and to which of the files that it comes to.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shell/value.h"

namespace leasehold::shell {

// What runs a command on the files.
inline constexpr std::string_view kFindRuns = "-exec -execdir -ok -okdir";

struct FindAction {
  enum class Kind {
    print,
    print_otherwise,  // Something else than names of files.
    remove,
    run,
    run_in_folder,  // Where each file is.
    write,          // `words` is a file that it writes.
  };
  Kind kind = Kind::print;
  Arguments words;
  Arguments files;  // Trees, or files that are known; at least those that it is done to.
};

struct FindActions {
  std::vector<FindAction> all;  // In the order they stand there; one, if it says none.
  std::string unclear;          // Not empty: there may be more, for this reason.
};

// What the names of files match whose whole path matches `pattern`, where a star takes slashes, too; and the
// folder that every such path is in. Empty: not known.
std::string name_in_path(const std::string& pattern);
std::string folder_in_path(const std::string& pattern);

// `start`: where it begins, and `is_folder` what is known of files that stand there by name.
FindActions find_actions(const Arguments& start, std::span<const Argument> expression,
                         const std::function<bool(const std::string&)>& is_folder);

}  // namespace leasehold::shell
