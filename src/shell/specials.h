// Programs that a line of a table cannot tell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/call.h"

namespace leasehold::shell {

struct Special {
  std::string_view name;
  Lines (*run)(const Call& call);
};

const Special* find_special(std::string_view name);

Lines run_fd(const Call& call);
Lines run_find(const Call& call);
Lines run_gh(const Call& call);
Lines run_git(const Call& call);
Lines run_patch(const Call& call);
Lines run_shell(const Call& call);
Lines run_tar(const Call& call);
Lines run_xargs(const Call& call);

// One line for a shell.
Lines run_line(const Call& call, const Argument& line);

// The words of texts, as they stand between separators.
Arguments split_at(const Arguments& lines, std::string_view separators);

// What `read` and `mapfile` take one after the other: lines, or up to the mark that -d names. Nothing: not
// known.
Lines pieces_read(const Arguments& marks, const Lines& in);

// What a program that only prints does print, if that is known.
Lines printed_by(std::string_view name, const Call& call);

// The top of the work tree that a folder is in, as git finds it; the folder itself if it is in none.
std::string work_tree(const FolderView& files, const std::string& folder);

// The text of a patch, from the file `path` or from what is read. Nothing: not known.
std::optional<std::string> patch_text(const Call& call, const Argument* path);

// Which files a diff is about, both names of each, with `strip` folders less; the last name alone if `strip`
// is -1 and the folders are not there.
std::vector<std::string> diff_files(std::string_view diff, int strip);

}  // namespace leasehold::shell
