// Which folders around a file of ours were there before it, with nothing in them: its text tells, by as many
// empty lines at its end. A folder with something else in it needs no mark, as it stays anyway; and an empty
// one is not in any other clone.
#pragma once

#include <string>
#include <string_view>

namespace leasehold {

struct MarkedText {
  std::string text;  // Without the mark.
  std::string mark;  // Line ends.
};

// Every text that ends so has it, ours or not: what is taken off is put back behind whatever the text
// becomes.
MarkedText without_mark(std::string_view text);

// The mark of a file that is to be made, of whose folders the innermost `own_folders` may be ours.
std::string mark_for(const std::string& path, int own_folders);

}  // namespace leasehold
