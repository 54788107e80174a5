// find and xargs: commands that run others on files they name.
#include <algorithm>

#include "shell/options.h"
#include "shell/specials.h"

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
    }
  } else {
    made.text.replace(at, mark.size(), by.text);
    if (made.text.find(mark, at + by.text.size()) != std::string::npos)
      made.why = "names that are put together";
  }
  return made;
}

void run_for(const Call& call, const Arguments& command, std::string_view mark, const Argument& file) {
  Arguments words;
  for (const Argument& word : command) words.push_back(replaced(word, mark, file));
  State inside = call.state;
  call.follower.run(std::move(words), inside, std::nullopt);
}

Arguments split_at_blanks(const Arguments& lines) {
  Arguments words;
  for (const Argument& line : lines) {
    if (!line.is_text()) {
      words.push_back(line);
      continue;
    }
    constexpr std::string_view kBlanks = " \t\n";
    for (std::size_t begin = line.text.find_first_not_of(kBlanks); begin != std::string::npos;) {
      const std::size_t end = std::min(line.text.find_first_of(kBlanks, begin), line.text.size());
      words.push_back({.text = line.text.substr(begin, end - begin)});
      begin = line.text.find_first_not_of(kBlanks, end);
    }
  }
  return words;
}

struct Found {
  Arguments trees;
  std::size_t expression = 0;  // Where it begins among the words.
};

Found starting_points(const Call& call) {
  Found found;
  std::size_t at = 1;
  while (at < call.words.size() && is_listed("-H -L -P", call.words[at].text)) ++at;
  for (; at < call.words.size(); ++at) {
    const Argument& word = call.words[at];
    if (word.is_known() && (word.text.starts_with('-') || word.text == "(" || word.text == "!")) break;
    Argument tree = word;
    tree.is_tree = tree.is_known();
    found.trees.push_back(std::move(tree));
  }
  if (found.trees.empty()) found.trees.push_back({.text = ".", .is_tree = true});
  found.expression = at;
  return found;
}

// The only pattern that names of found files match, if there is one.
std::string name_pattern(const Call& call, std::size_t begin) {
  std::string name;
  for (std::size_t i = begin; i < call.words.size(); ++i) {
    const std::string& text = call.words[i].text;
    if (is_listed("-o -or ! -not , -prune -iname -regex", text)) return {};
    if (text != "-name" || i + 1 == call.words.size()) continue;
    if (!name.empty() || !call.words[i + 1].is_text()) return {};
    name = call.words[i + 1].text;
  }
  return name;
}

}  // namespace

Lines run_find(const Call& call) {
  Found found = starting_points(call);
  const std::string name = name_pattern(call, found.expression);
  for (Argument& tree : found.trees) tree.name = name;
  Follower& follower = call.follower;
  for (std::size_t i = found.expression; i < call.words.size(); ++i) {
    const Argument& word = call.words[i];
    if (word.splits) follower.note_unseen("find: " + word.why);
    if (word.text == "-delete") {
      for (const Argument& tree : found.trees) follower.note_write(call.state, tree);
    } else if (is_listed("-fprint -fprint0 -fls -fprintf", word.text) && i + 1 < call.words.size()) {
      follower.note_write(call.state, call.words[++i]);
    } else if (is_listed("-exec -execdir -ok -okdir", word.text)) {
      Arguments command;
      for (++i; i < call.words.size() && !is_listed("; +", call.words[i].text); ++i)
        command.push_back(call.words[i]);
      for (const Argument& tree : found.trees) run_for(call, command, "{}", tree);
    }
  }
  return found.trees;
}

Lines run_xargs(const Call& call) {
  const Split taken =
      split(call.behind(), {.values = "-I -n -P -L -d -a -s -E --max-args --max-procs --max-lines "
                                      "--delimiter --arg-file --replace --max-chars --eof",
                            .operands_end = true});
  Arguments command = taken.operands;
  if (command.empty()) return call.in;
  const Argument unread = {.why = "what xargs reads", .splits = true};
  Lines in = call.in;
  if (taken.has("-a --arg-file")) in.reset();
  const Arguments marks = taken.values("-I --replace");
  if (!marks.empty()) {
    const Arguments files = in.value_or(Arguments{unread});
    for (const Argument& file : files) run_for(call, command, marks.back().text, file);
    return std::nullopt;
  }
  const bool has_lines = taken.has("-d --delimiter -0 --null");
  const Arguments files = in ? (has_lines ? *in : split_at_blanks(*in)) : Arguments{unread};
  command.insert(command.end(), files.begin(), files.end());
  State inside = call.state;
  call.follower.run(std::move(command), inside, std::nullopt);
  return std::nullopt;
}

}  // namespace leasehold::shell
