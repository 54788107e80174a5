// find and xargs: commands that run others on files they name.
#include <algorithm>

#include "shell/find_expression.h"
#include "shell/options.h"
#include "shell/place.h"
#include "shell/specials.h"
#include "util/path_text.h"
#include "util/unique.h"

namespace leasehold::shell {
namespace {

// `word` with every `mark` in it replaced.
Argument replaced(const Argument& word, std::string_view mark, const Argument& by) {
  const std::size_t at = word.text.find(mark);
  if (at == std::string::npos || mark.empty()) return word;
  if (word.text == mark) return by;
  Argument made = word;
  if (!by.is_known()) {
    made.why = by.why;
  } else if (by.is_tree) {
    const bool is_below = (at == 0 || word.text[at - 1] == '/') && !word.text.contains("..");
    if (!is_below || (at > 0 && by.text.starts_with('/'))) {
      made.why = "names that are put together";
    } else {
      made = by;
      made.text = word.text.substr(0, at) + by.text;
      made.name.clear();
      made.only_folders = false;
    }
  } else {
    constexpr std::size_t kTextMax = std::size_t{64} << 10;
    for (std::size_t next = at; next != std::string::npos;
         next = made.text.find(mark, next + by.text.size())) {
      made.text.replace(next, mark.size(), by.text);
      if (made.text.size() > kTextMax) {
        made.why = "names that are put together";
        break;
      }
    }
  }
  return made;
}

Lines run_for(const Call& call, const Arguments& command, std::string_view mark, const Argument& file,
              const State& where) {
  Arguments words;
  for (const Argument& word : command) words.push_back(replaced(word, mark, file));
  State inside = where;
  return call.follower.run(std::move(words), inside, std::nullopt);
}

Argument unread() { return {.text = {}, .why = "what xargs reads", .splits = true}; }

Arguments split_at(const Arguments& lines, std::string_view separators) {
  Arguments words;
  for (const Argument& line : lines) {
    if (!line.is_text()) {
      words.push_back(line);
      continue;
    }
    for (std::size_t begin = line.text.find_first_not_of(separators); begin != std::string::npos;) {
      const std::size_t end = std::min(line.text.find_first_of(separators, begin), line.text.size());
      words.push_back({.text = line.text.substr(begin, end - begin)});
      begin = line.text.find_first_not_of(separators, end);
    }
  }
  return words;
}

// What find begins with, and where its expression begins among the words.
struct Start {
  Arguments places;
  std::size_t expression = 0;
};

Start starting_points(const Call& call) {
  Start start;
  std::size_t at = 1;
  while (at < call.words.size() && is_listed("-H -L -P", call.words[at].text)) ++at;
  for (; at < call.words.size(); ++at) {
    const Argument& word = call.words[at];
    if (word.is_known() && (word.text.starts_with('-') || word.text == "(" || word.text == "!")) break;
    Argument tree = word;
    tree.is_tree = tree.is_known();
    start.places.push_back(std::move(tree));
  }
  if (start.places.empty()) start.places.push_back({.text = ".", .is_tree = true});
  start.expression = at;
  return start;
}

// Where the shell stands, if that is one place.
const std::string* only_folder(const State& state) {
  return state.folder_why.empty() && state.folders.size() == 1 ? &state.folders[0] : nullptr;
}

// With -maxdepth 1, the files themselves: what is in a folder is soon looked at.
void list_places(const Call& call, Start& start) {
  constexpr std::size_t kFilesMax = 100;
  constexpr std::size_t kWordsMax = 100;
  const std::string* const here = only_folder(call.state);
  const std::span<const Argument> expression = call.behind(start.expression);
  const auto depth = std::ranges::find(expression, "-maxdepth", &Argument::text);
  if (here == nullptr || expression.size() > kWordsMax || depth == expression.end() ||
      depth + 1 == expression.end() || (depth + 1)->text != "1") {
    return;
  }
  const auto least = std::ranges::find(expression, "-mindepth", &Argument::text);
  const bool has_start =
      least == expression.end() || least + 1 == expression.end() || (least + 1)->text == "0";
  Arguments files;
  for (const Argument& place : start.places) {
    const auto names = place.is_known() && place.name.empty()
                           ? call.follower.files().names(placed(*here, place.text))
                           : std::nullopt;
    if (!names || files.size() + names->size() > kFilesMax) return;
    if (has_start) files.push_back({.text = place.text});
    for (const std::string& name : *names) files.push_back({.text = join(place.text, name)});
  }
  start.places = std::move(files);
}

// The words that xargs makes of what it reads.
Arguments words_read(const Call& call, const Split& taken, bool in_lines) {
  Lines in = call.in;
  if (const Arguments files = taken.values("-a --arg-file"); !files.empty()) {
    const auto text = patch_text(call, &files.back());
    in = text ? Lines(Arguments{{.text = *text}}) : std::nullopt;
  }
  if (!in) return {unread()};
  if (taken.has("-0 --null")) return split_at(*in, std::string_view("\0", 1));
  const Arguments marks = taken.values("-d --delimiter");
  if (!marks.empty()) {
    const std::string& mark = marks.back().text;
    if (mark == "\\0") return split_at(*in, std::string_view("\0", 1));
    if (mark == "\\n" || mark == "\n") return split_at(*in, "\n");
    if (!marks.back().is_text() || mark.size() != 1) return {unread()};
    return split_at(split_at(*in, mark), "\n");
  }
  // It has quotes of its own.
  const auto is_quoted = [](const Argument& line) {
    return line.is_text() && line.text.find_first_of("'\"\\") != std::string::npos;
  };
  if (std::ranges::any_of(*in, is_quoted)) return {unread()};
  return split_at(*in, in_lines ? "\n" : " \t\n");
}

}  // namespace

Lines run_find(const Call& call) {
  Start start = starting_points(call);
  list_places(call, start);
  const std::string* const here = only_folder(call.state);
  const auto is_folder = [&](const std::string& path) {
    if (here == nullptr) return false;
    const std::string place = placed(*here, path);
    return call.follower.files().is_folder(place) && !call.follower.files().is_link(place);
  };
  // Then links to folders are folders, too.
  const bool follows = std::ranges::any_of(
      call.words, [](const Argument& word) { return is_listed("-L -follow", word.text); });
  FindActions actions = find_actions(start.places, call.behind(start.expression), is_folder);
  Follower& follower = call.follower;
  if (!actions.unclear.empty()) follower.note_unseen("find: " + actions.unclear);
  Lines printed = Arguments{};
  const auto add = [&](Lines more) {
    if (!more) printed.reset();
    if (printed) add_missing(*printed, *more);
  };
  for (FindAction& action : actions.all) {
    for (Argument& file : action.files) file.only_folders = file.only_folders && !follows;
    State where = call.state;
    if (action.kind == FindAction::Kind::run_in_folder) {
      for (Argument& file : action.files) {
        if (here != nullptr && file.is_known()) file.text = placed(*here, file.text);
      }
      where.folder_why = "the folders that find comes to";
    }
    switch (action.kind) {
      case FindAction::Kind::print:
        add(action.files);
        break;
      case FindAction::Kind::print_otherwise:
        add(std::nullopt);
        break;
      case FindAction::Kind::remove:  // Of folders only those that are empty.
        for (const Argument& file : action.files) {
          if (!file.only_folders && (file.is_tree || !is_folder(file.text)))
            follower.note_write(call.state, file);
        }
        break;
      case FindAction::Kind::run:
      case FindAction::Kind::run_in_folder:
        for (const Argument& file : action.files) add(run_for(call, action.words, "{}", file, where));
        break;
      case FindAction::Kind::write:
        for (const Argument& file : action.words) follower.note_write(call.state, file);
        break;
    }
  }
  return printed;
}

Lines run_xargs(const Call& call) {
  const Split taken =
      split(call.behind(), {.values = "-I -n -P -L -d -a -s -E --max-args --max-procs --delimiter --arg-file "
                                      "--max-chars --process-slot-var",
                            .attached = "-i -l -e",
                            .operands_end = true});
  Arguments command = taken.operands;
  if (command.empty()) return call.in;
  const Arguments marks = taken.values("-I -i --replace");
  const Arguments files = words_read(call, taken, !marks.empty());
  if (!marks.empty()) {
    const std::string mark = marks.back().text.empty() ? "{}" : marks.back().text;
    for (const Argument& file : files) run_for(call, command, mark, file, call.state);
    return std::nullopt;
  }
  command.insert(command.end(), files.begin(), files.end());
  State inside = call.state;
  call.follower.run(std::move(command), inside, std::nullopt);
  return std::nullopt;
}

}  // namespace leasehold::shell
