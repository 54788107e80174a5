// Where the parts of a JSON text stand, so that something can be put in or taken out and every other byte
// stays as its author wrote it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"

namespace leasehold {

struct JsonSpan;
struct JsonMember;

struct JsonSpan {
  std::size_t begin = 0;            // The first byte of the value.
  std::size_t end = 0;              // Behind its last.
  char kind = 0;                    // '{', '[', or the first byte of something else.
  std::vector<JsonMember> members;  // Of an object, in the order of the text. Of an array: without names.

  // Null: there is none of this name.
  const JsonMember* find(std::string_view name) const;
};

struct JsonMember {
  std::size_t begin = 0;  // Of the name; in an array of the value.
  std::string name;
  JsonSpan value;

  std::size_t end() const { return value.end; }
};

// Comments are passed over, as hosts do that read settings written by people; one that does not would not
// have read this file either.
//
// Total: any bytes give the spans or an error. Nothing but blanks, maybe behind a byte order mark, gives
// nothing: there is no value. Errors: invalid_argument, beginning with the line and a colon (the text is no
// JSON, or an object has a name twice).
Result<std::optional<JsonSpan>> json_spans(std::string_view text);

// The next byte at or behind `at` that is neither a blank nor in a comment.
std::size_t behind_blanks(std::string_view text, std::size_t at);

// Behind the comments that follow in the same line: what is said about the value that ends at `at`. Without
// any, `at` itself.
std::size_t behind_remark(std::string_view text, std::size_t at);

// Whether there is a comment in a part of the text that has no values.
bool has_comment(std::string_view text, std::size_t begin, std::size_t end);

// Takes one member out of the text, and the comma that is too many then. Comments before it stay. The spans
// of the text are not those of what is left.
void erase_member(std::string& text, const JsonSpan& container, std::size_t index);

}  // namespace leasehold
