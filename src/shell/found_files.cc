// find and xargs: commands that run others on files they name.
#include <algorithm>

#include "shell/find_expression.h"
#include "shell/options.h"
#include "shell/place.h"
#include "shell/specials.h"
#include "util/number.h"
#include "util/path_text.h"
#include "util/unique.h"

namespace leasehold::shell {
namespace {

// False: it would become too long.
bool replace_all(std::string& text, std::string_view mark, const std::string& by) {
  constexpr std::size_t kTextMax = std::size_t{64} << 10;
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size())) {
    text.replace(at, mark.size(), by);
    if (text.size() > kTextMax) return false;
  }
  return true;
}

// `word` with every `mark` in it replaced.
Argument replaced(const Argument& word, std::string_view mark, const Argument& by) {
  const std::size_t at = word.text.find(mark);
  if (at == std::string::npos || mark.empty()) return word;
  if (word.text == mark) return by;
  Argument made = word;
  if (!by.is_known()) {
    made.why = by.why;
  } else if (by.is_tree) {
    const std::string_view rest = std::string_view(word.text).substr(at + mark.size());
    const char before = at == 0 ? '=' : word.text[at - 1];  // of={}
    const bool is_below = before == '=' || (before == '/' && !by.text.starts_with('/'));
    // In an option it would be taken for an operand.
    if (!is_below || (at > 0 && word.text[0] == '-') || word.text.contains("..") || rest.contains(mark)) {
      made.why = kPutTogether;
      replace_all(made.text, mark, std::string(1, kFound));
    } else {
      made = by;
      made.text = word.text.substr(0, at) + by.text;
      append_to_tree(made, rest);
    }
  } else {
    if (!replace_all(made.text, mark, by.text)) made.why = kPutTogether;
  }
  return made;
}

Lines run_for(const Call& call, const Arguments& command, std::string_view mark, const Argument& file,
              const State& where) {
  Arguments words;
  for (const Argument& word : command) words.push_back(replaced(word, mark, file));
  State inside = where;
  if (file.is_tree) inside.found = file;
  return call.follower.run(std::move(words), inside, std::nullopt);
}

Argument unread() { return {.text = {}, .why = "what xargs reads", .splits = true}; }

// What find begins with, and where its expression begins among the words.
struct Start {
  Arguments places;
  std::size_t expression = 0;
  bool is_found = false;  // By another find.
};

Start starting_points(const Call& call) {
  Start start;
  bool is_given = false;
  std::size_t at = 1;
  while (at < call.words.size() && is_listed("-H -L -P", call.words[at].text)) ++at;
  for (; at < call.words.size(); ++at) {
    const Argument& word = call.words[at];
    if (word.is_known() && (word.text.starts_with('-') || word.text == "(" || word.text == "!")) break;
    is_given = true;
    if (word.is_unmatched) continue;
    Argument tree = word;
    // Below what is found are files of any name.
    start.is_found = start.is_found || word.is_tree;
    tree.name.clear();
    tree.only_folders = tree.only_files = false;
    tree.is_tree = tree.is_known();
    start.places.push_back(std::move(tree));
  }
  if (!is_given) start.places.push_back({.text = ".", .is_tree = true});
  start.expression = at;
  return start;
}

// Where the shell stands, if that is one place.
const std::string* only_folder(const State& state) {
  return state.folder_why.empty() && state.folders.size() == 1 ? &state.folders[0] : nullptr;
}

// The value of an option of find's that holds for all of it. What it runs may be another find.
std::string global_option(std::span<const Argument> expression, std::string_view name) {
  for (std::size_t i = 0; i + 1 < expression.size(); ++i) {
    if (is_listed(kFindRuns, expression[i].text)) break;
    if (expression[i].text == name) return expression[i + 1].text;
  }
  return {};
}

// With -maxdepth 1, the files themselves: what is in a folder is soon looked at.
void list_places(const Call& call, Start& start) {
  constexpr std::size_t kFilesMax = 100;
  constexpr std::size_t kWordsMax = 100;
  const std::string* const here = only_folder(call.state);
  const std::span<const Argument> expression = call.behind(start.expression);
  if (here == nullptr || start.is_found || expression.size() > kWordsMax ||
      global_option(expression, "-maxdepth") != "1") {
    return;
  }
  const std::string least = global_option(expression, "-mindepth");
  const bool has_start = least.empty() || least == "0";
  Arguments files;
  for (const Argument& place : start.places) {
    const auto names =
        place.is_known() ? call.follower.files().names(placed(*here, place.text)) : std::nullopt;
    if (!names || files.size() + names->size() > kFilesMax) return;
    if (has_start) files.push_back({.text = place.text});
    for (const std::string& name : *names) files.push_back({.text = join(place.text, name)});
  }
  start.places = std::move(files);
}

// How much of what xargs reads goes into one call.
struct Portion {
  std::size_t count = 0;  // 0: all of it.
  bool is_lines = false;  // Or words.
};

// Nothing: it cannot be told.
std::optional<Portion> portion(const Split& taken) {
  Portion one;
  for (const Option& option : taken.options) {
    const bool is_lines = is_listed("-L -l --max-lines", option.name);
    if (!is_lines && !is_listed("-n --max-args", option.name)) continue;
    const std::string& text = option.value.text;
    one = {.count = 1, .is_lines = is_lines};
    if (is_lines && text.empty()) continue;
    const auto count = parse_number<std::size_t>(text);
    if (!option.value.is_text() || !count) return std::nullopt;
    one.count = *count;
  }
  return one;
}

// The words of each call. `lines` are words, if it counts those.
std::vector<Arguments> portions(const Arguments& lines, const Portion& by, std::string_view separators) {
  std::vector<Arguments> all;
  std::size_t count = by.count;  // Of what the last has.
  for (const Argument& line : lines) {
    if (count >= by.count) {
      all.emplace_back();
      count = 0;
    }
    const Arguments words = by.is_lines ? split_at({line}, separators) : Arguments{line};
    all.back().insert(all.back().end(), words.begin(), words.end());
    // A blank at its end joins a line to the next one.
    if (!by.is_lines || !(line.text.ends_with(' ') || line.text.ends_with('\t'))) ++count;
    if (line.is_text()) continue;
    // It stands for any number of words: for all of a call as well.
    if (by.count > 1) all.back().push_back(line);
    count = by.count;
  }
  return all;
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

Arguments split_at(const Arguments& lines, std::string_view separators) {
  Arguments words;
  for (const Argument& line : lines) {
    if (!line.is_text()) {
      words.push_back(line);
      continue;
    }
    for (std::size_t begin = line.text.find_first_not_of(separators); begin != std::string::npos;) {
      const std::size_t end = std::min(line.text.find_first_of(separators, begin), line.text.size());
      words.push_back({.text = line.text.substr(begin, end - begin), .is_unmatched = line.is_unmatched});
      begin = line.text.find_first_not_of(separators, end);
    }
  }
  return words;
}

Lines pieces_read(const Arguments& marks, const Lines& in) {
  if (!in) return std::nullopt;
  const std::string mark = marks.empty() ? "\n" : marks.back().text;
  if (mark.empty() || mark[0] == '\0') return split_at(*in, std::string_view("\0", 1));
  if (mark[0] != '\n') return std::nullopt;
  Arguments lines = *in;
  for (Argument& line : lines) std::erase(line.text, '\0');  // As bash does.
  return lines;
}

// fd -x command, which is the rest of its words.
Lines run_fd(const Call& call) {
  const auto runs = std::ranges::find_if(
      call.words, [](const Argument& word) { return is_listed("-x --exec -X --exec-batch", word.text); });
  if (runs == call.words.end()) return printed_by("fd", call);
  const Split taken =
      split({call.words.begin() + 1, runs}, {.values = "-e --extension -t --type -d --max-depth -E --exclude "
                                                       "-S --size -j --threads -C --base-directory "
                                                       "--search-path --changed-within --changed-before"});
  Arguments command(runs + 1, std::ranges::find(runs, call.words.end(), ";", &Argument::text));
  const auto has = [&](std::string_view mark) {
    return std::ranges::any_of(command, [&](const Argument& word) { return word.text.contains(mark); });
  };
  if (has("{/") || has("{.") || taken.has("-C --base-directory --search-path") || !taken.unclear.empty()) {
    call.follower.note_unseen("fd: names that it makes");
    return std::nullopt;
  }
  if (!has("{}")) command.push_back({.text = "{}"});
  Arguments places = {{.text = "."}};
  if (taken.operands.size() > 1) places.assign(taken.operands.begin() + 1, taken.operands.end());
  const Arguments endings = taken.values("-e --extension");
  for (Argument& place : places) {
    place.is_tree = place.is_known();
    if (endings.size() == 1 && endings[0].is_text()) place.name = "*." + endings[0].text;
    run_for(call, command, "{}", place, call.state);
  }
  return std::nullopt;
}

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
  const Arguments& command = taken.operands;
  if (command.empty()) return call.in;
  const Arguments marks = taken.values("-I -i --replace");
  const auto by = portion(taken);
  const bool in_lines = !marks.empty() || (by && by->is_lines);
  const Arguments files = by ? words_read(call, taken, in_lines) : Arguments{unread()};
  if (!marks.empty()) {
    const std::string mark = marks.back().text.empty() ? "{}" : marks.back().text;
    for (const Argument& file : files) run_for(call, command, mark, file, call.state);
    return std::nullopt;
  }
  const auto run_with = [&](const Arguments& words) {
    Arguments all = command;
    all.insert(all.end(), words.begin(), words.end());
    State inside = call.state;
    call.follower.run(std::move(all), inside, std::nullopt);
  };
  if (!by || by->count == 0) {
    run_with(files);
  } else {
    const bool has_marks = taken.has("-0 --null -d --delimiter");
    for (const Arguments& words : portions(files, *by, has_marks ? "" : " \t")) run_with(words);
  }
  return std::nullopt;
}

}  // namespace leasehold::shell
