// What is known about words and variables while a command line is followed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shell/syntax.h"

namespace leasehold::shell {

// A word after expansion.
struct Argument {
  std::string text;
  std::string why;      // Not empty: not known, for this reason; `text` is what is known of its beginning.
  bool splits = false;  // Not known and not quoted: may be any number of words, options too.
  // Stands for any files below the folder `text`, or for it; with a pattern of their names if one is known.
  bool is_tree = false;
  std::string name;
  bool only_folders = false;  // Of a tree: it stands for folders alone.
  bool only_files = false;    // Or for what is none.
  bool is_unmatched = false;  // A pattern that matched nothing, as shells leave it: no file has that name.

  bool is_known() const { return why.empty(); }
  bool is_text() const { return why.empty() && !is_tree; }
  bool operator==(const Argument&) const = default;
};

using Arguments = std::vector<Argument>;

// What stands behind the names that a tree stands for.
void append_to_tree(Argument& tree, std::string_view more);

// Stands in a script for a tree that find or xargs names in the middle of its text.
constexpr char kFound = '\x1a';
constexpr std::string_view kPutTogether = "names that are put together";

// Lines that a command reads or prints. Nothing: not known.
using Lines = std::optional<Arguments>;

// One value for all copies, until one of them is changed. Where the shell stands is copied for every program
// that it runs, and most change nothing about it.
template <class T>
class Shared {
 public:
  const T& operator*() const { return value_ ? *value_ : kNone; }
  const T* operator->() const { return &**this; }
  bool is_same(const Shared& other) const { return value_ == other.value_; }

  T& changed() {
    if (!value_) {
      value_ = std::make_shared<T>();
    } else if (value_.use_count() > 1) {
      value_ = std::make_shared<T>(*value_);
    }
    return *value_;
  }

 private:
  static inline const T kNone;
  std::shared_ptr<T> value_;
};

using Variables = std::map<std::string, Arguments, std::less<>>;
using Functions = std::map<std::string, std::shared_ptr<const Command>, std::less<>>;

// Where the shell stands.
struct State {
  std::vector<std::string> folders;  // Where it may be; one, most often.
  std::string folder_why;            // Not empty: it may be somewhere else, for this reason.
  bool is_physical = false;          // set -P: cd goes as chdir(2) does.
  std::optional<std::string> last_folder;
  std::vector<std::string> pushed;
  Shared<Variables> variables;             // Lists have any number of items, others one.
  Shared<std::set<std::string>> exported;  // Which of them the shells that it runs have, too.
  Shared<Functions> functions;
  Arguments positional;
  std::optional<Argument> found;  // What kFound is.
  bool has_ended = false;         // By exit: nothing more is run.

  // Of a list, the first item.
  void set(const std::string& name, Argument value) {
    Arguments& known = variables.changed()[name];
    if (known.empty()) known.emplace_back();
    known.front() = std::move(value);
  }
};

// Keeps the list of folders short: of many, some are known and the rest is not.
void limit_folders(State& state);

// What is known when it may be either.
State either(State one, State other);

}  // namespace leasehold::shell
