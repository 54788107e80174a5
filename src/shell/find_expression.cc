#include "shell/find_expression.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>

#include "shell/options.h"
#include "shell/place.h"
#include "util/unique.h"

namespace leasehold::shell {
namespace {

constexpr std::string_view kOneWord =
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size "
    "-mtime -ctime -atime -mmin -cmin -amin -anewer -cnewer -perm -user -group -uid -gid -links -inum "
    "-samefile -maxdepth -mindepth -fstype -context -used -regextype -files0-from";
constexpr std::string_view kWildcards = "*?[";

// As a pattern that takes letters of both cases. Empty: none that is sure to take them all.
std::string in_any_case(const std::string& pattern) {
  std::string made;
  for (const char c : pattern) {
    const auto letter = static_cast<unsigned char>(c);
    if (c == '[' || c == '\\' || letter >= 0x80) return {};
    if (std::isalpha(letter) == 0) {
      made += c;
    } else {
      made += {'[', static_cast<char>(std::tolower(letter)), static_cast<char>(std::toupper(letter)), ']'};
    }
  }
  return made;
}

bool is_in(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

class Reader {
 public:
  Reader(std::span<const Argument> words, const std::function<bool(const std::string&)>& is_folder)
      : words_(words), is_folder_(is_folder) {}

  FindActions read(const Arguments& start) {
    Arguments left = list(start);
    const bool is_whole = at_ >= words_.size();
    if (!is_whole && actions_.unclear.empty()) actions_.unclear = "an expression that cannot be read";
    if (!acts_)
      actions_.all.push_back({.kind = FindAction::Kind::print, .words = {}, .files = std::move(left)});
    return std::move(actions_);
  }

 private:
  using Kind = FindAction::Kind;

  bool is_at(std::string_view list) const { return at_ < words_.size() && is_listed(list, words_[at_].text); }
  const Argument* next() { return at_ < words_.size() ? &words_[at_++] : nullptr; }

  Arguments list(const Arguments& in) {
    Arguments out = either(in);
    while (is_at(",")) {
      ++at_;
      out = either(in);
    }
    return out;
  }

  Arguments either(const Arguments& in) {
    constexpr std::size_t kMost = 200;
    Arguments out = both(in);
    while (is_at("-o -or")) {
      ++at_;
      const Arguments more = both(in);
      if (out.size() <= kMost) add_missing(out, more);
    }
    return out.size() > kMost ? in : out;
  }

  Arguments both(Arguments in) {
    while (at_ < words_.size() && !is_at("-o -or , )")) {
      if (is_at("-a -and")) {
        ++at_;
      } else {
        in = factor(in);
      }
    }
    return in;
  }

  Arguments factor(const Arguments& in) {
    constexpr int kDepthMax = 50;
    if (depth_ >= kDepthMax) {
      actions_.unclear = "it is nested too deeply";
      at_ = words_.size();
      return in;
    }
    ++depth_;
    Arguments out = in;
    if (is_at("! -not")) {
      ++at_;
      // Whatever does not match; and what does may be told by more than we look at.
      if (at_ < words_.size()) factor(in);
    } else if (is_at("(")) {
      ++at_;
      out = list(in);
      if (is_at(")")) ++at_;
    } else {
      out = primary(in);
    }
    --depth_;
    return out;
  }

  Arguments primary(const Arguments& in) {
    const Argument word = *next();
    const std::string& name = word.text;
    if (word.splits) actions_.unclear = word.why;
    if (is_listed(kOneWord, name) || name.starts_with("-newer")) {
      const Argument* const value = next();
      return value == nullptr || !value->is_text() ? in : tested(in, name, value->text);
    }
    if (name == "-false") return {};
    if (name == "-print" || name == "-print0") return act(Kind::print, {}, in);
    if (name == "-ls") return act(Kind::print_otherwise, {}, in);
    if (name == "-printf") {
      const Argument* const format = next();
      const bool is_path = format != nullptr && is_listed("%p %p\\n %p\\0", format->text);
      return act(is_path ? Kind::print : Kind::print_otherwise, {}, in);
    }
    if (name == "-delete") return act(Kind::remove, {}, in);
    if (is_listed("-fprint -fprint0 -fls -fprintf", name)) {
      const Argument* const file = next();
      if (name == "-fprintf") next();
      return act(Kind::write, file == nullptr ? Arguments{} : Arguments{*file}, in);
    }
    if (is_listed(kFindRuns, name)) return act_by_command(name.ends_with("dir"), in);
    return in;
  }

  Arguments act(Kind kind, Arguments words, const Arguments& files) {
    acts_ = true;
    actions_.all.push_back({kind, std::move(words), files});
    return files;
  }

  Arguments act_by_command(bool in_folder, const Arguments& files) {
    Arguments command;
    while (at_ < words_.size() && !is_at(";") && !is_end_of_many(command)) command.push_back(*next());
    if (at_ < words_.size()) ++at_;
    return act(in_folder ? Kind::run_in_folder : Kind::run, std::move(command), files);
  }

  // {} + ends a command; a + elsewhere is a word of it.
  bool is_end_of_many(const Arguments& command) const {
    return is_at("+") && !command.empty() && command.back().text == "{}";
  }

  // Those of the files that may pass.
  Arguments tested(const Arguments& in, const std::string& test, const std::string& value) const {
    Arguments out;
    for (Argument one : in) {
      const bool may_pass =
          one.is_tree ? narrow(one, test, value) : !one.is_known() || passes(one, test, value);
      if (may_pass) out.push_back(std::move(one));
    }
    return out;
  }

  bool passes(const Argument& file, const std::string& test, const std::string& value) const {
    if (test == "-name") return fnmatch(value.c_str(), std::string(last_name(file.text)).c_str(), 0) == 0;
    if (test == "-path" || test == "-wholename") return fnmatch(value.c_str(), file.text.c_str(), 0) == 0;
    if (test == "-type" && value == "d") return is_folder_(file.text);
    if (test == "-type" && value == "f") return !is_folder_(file.text);
    return true;
  }

  static bool narrow(Argument& tree, const std::string& test, const std::string& value) {
    if (test == "-type" && value == "d") tree.only_folders = true;
    if (test == "-type" && value == "f") tree.only_files = true;
    std::string name;
    if (test == "-name") name = value;
    if (test == "-iname") name = in_any_case(value);
    if (test == "-path" || test == "-wholename") {
      name = name_in_path(value);
      const std::string folder = folder_in_path(value);
      // Its paths begin with where it begins.
      if (folder.size() > tree.text.size() && is_in(folder, tree.text) && !folder.contains("..")) {
        tree.text = folder;
      }
    }
    if (tree.name.empty()) tree.name = name;
    return true;
  }

  std::span<const Argument> words_;
  const std::function<bool(const std::string&)>& is_folder_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool acts_ = false;
  FindActions actions_;
};

}  // namespace

std::string name_in_path(const std::string& pattern) {
  if (pattern.contains('\\')) return {};
  std::string last = pattern.substr(pattern.rfind('/') + 1);
  const std::size_t wild = last.find_first_of(kWildcards);
  if (wild == std::string::npos) return last;
  const std::size_t end = last.find_last_of("*?[]");
  return end + 1 == last.size() ? std::string() : '*' + last.substr(end + 1);
}

std::string folder_in_path(const std::string& pattern) {
  if (pattern.contains('\\')) return {};
  const std::size_t slash = pattern.substr(0, pattern.find_first_of(kWildcards)).rfind('/');
  return slash == std::string::npos ? std::string() : pattern.substr(0, slash);
}

FindActions find_actions(const Arguments& start, std::span<const Argument> expression,
                         const std::function<bool(const std::string&)>& is_folder) {
  return Reader(expression, is_folder).read(start);
}

}  // namespace leasehold::shell
