#include "shell/builtins.h"

#include <algorithm>
#include <utility>

#include "shell/characters.h"
#include "shell/options.h"
#include "shell/place.h"
#include "shell/specials.h"
#include "util/number.h"
#include "util/unique.h"

namespace leasehold::shell {
namespace {

constexpr std::string_view kDeclarations[] = {"export", "declare", "typeset", "local", "readonly"};

// The first word that is no option.
const Argument* operand(const Call& call) {
  for (std::size_t i = 1; i < call.words.size(); ++i) {
    const std::string& text = call.words[i].text;
    if (text.size() > 1 && text.starts_with('-') && call.words[i].is_known()) continue;
    return &call.words[i];
  }
  return nullptr;
}

// Whether it is certain that the shell is there then.
bool go_to(const Call& call, const Argument& target, bool is_physical) {
  State& state = call.state;
  if (!target.is_text()) {
    state.folder_why = "a folder changed to: " + (target.is_tree ? "one that is found" : target.why);
    return false;
  }
  const bool is_absolute = target.text.starts_with('/');
  std::vector<std::string> targets;
  for (const std::string& folder : state.folders) {
    const std::string place = placed(folder, target.text);
    add_unique(targets, simplified(is_physical ? call.follower.files().resolved(place) : place));
  }
  const bool is_link = std::ranges::any_of(targets, [&](const std::string& one) {
    return call.follower.is_made(one) && !call.follower.files().is_folder(one);
  });
  if (is_link) {
    state.folder_why = "a folder changed to: a link that the line makes";
    return false;
  }
  // One that is not there cannot be changed to; unless something that we do not see makes it.
  const bool was_known = state.folder_why.empty();
  const bool is_there = std::ranges::all_of(
      targets, [&](const std::string& one) { return call.follower.files().is_folder(one); });
  if (!is_there) call.follower.note_if_failed(state);
  if (was_known && state.folders.size() == 1) {
    state.last_folder = state.folders[0];
  } else {
    state.last_folder.reset();
  }
  state.folders = std::move(targets);
  limit_folders(state);
  if (is_there && is_absolute) state.folder_why.clear();
  return is_there && (is_absolute || was_known);
}

// By a command of the shell's own.
void go_to(const Call& call, const Argument& target) {
  bool is_physical = call.state.is_physical;
  for (const Argument& word : call.behind()) {
    if (!word.text.starts_with('-') || word.text.size() == 1) break;
    for (const char option : word.text) is_physical = option == 'P' || (is_physical && option != 'L');
  }
  if (go_to(call, target, is_physical)) call.follower.note_success();
}

bool has_search_path(const State& state) {
  const auto found = state.variables->find("CDPATH");
  return found != state.variables->end() &&
         std::ranges::any_of(found->second, [](const Argument& one) { return one != Argument{}; });
}

Lines change_folder(const Call& call) {
  const Argument* target = operand(call);
  if (target != nullptr && target != &call.words.back()) {
    // Two are one too many, if they are there.
    if (!std::ranges::all_of(call.words, &Argument::is_text))
      call.state.folder_why = "a folder changed to: one of several words";
    return Arguments{};
  }
  if (target != nullptr && has_search_path(call.state) && target->text.find_first_of("./") != 0) {
    call.state.folder_why = "a folder changed to: CDPATH";
    return Arguments{};
  }
  if (target != nullptr && target->text != "-") {
    go_to(call, *target);
  } else if (target != nullptr) {
    go_to(call, call.state.last_folder ? Argument{.text = *call.state.last_folder}
                                       : Argument{.why = "the folder before"});
  } else {
    go_to(call, call.follower.home().empty() ? Argument{.why = "the home folder"}
                                             : Argument{.text = call.follower.home()});
  }
  return Arguments{};
}

// The one the shell stands in, if that is known.
std::string this_folder(const State& state) {
  return state.folder_why.empty() && state.folders.size() == 1 ? state.folders[0] : "";
}

// pushd +1, pushd -0: which of so many.
std::optional<std::size_t> place_in_stack(const std::string& text, std::size_t count) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const auto number = parse_number<std::size_t>(std::string_view(text).substr(1));
  if (!number || *number >= count) return std::nullopt;
  return text[0] == '+' ? *number : count - 1 - *number;
}

Lines push_folder(const Call& call) {
  State& state = call.state;
  const Argument* target = operand(call);
  const bool stays = call.words.size() > 1 && call.words[1].text == "-n";
  const std::string here = this_folder(state);
  const std::string number = call.words.size() > 1 ? call.words.back().text : "";
  if (call.words.size() == 1 && !state.pushed.empty()) {
    // The two on top change places.
    const std::string folder = std::exchange(state.pushed.back(), here);
    go_to(call, folder.empty() ? Argument{.why = "the stack of folders"} : Argument{.text = folder});
  } else if (const auto at = place_in_stack(number, state.pushed.size() + 1); at && !stays) {
    std::vector<std::string>& stack = state.pushed;  // From the bottom up, as if the shell's were its top.
    stack.push_back(here);
    std::ranges::rotate(stack, stack.end() - static_cast<std::ptrdiff_t>(*at));
    const std::string folder = stack.back();
    stack.pop_back();
    go_to(call, folder.empty() ? Argument{.why = "the stack of folders"} : Argument{.text = folder});
  } else if (target == nullptr || target->text.starts_with('+')) {
    state.folder_why = "the stack of folders";
  } else if (stays) {
    state.pushed.push_back(here.empty() || !target->is_text() ? "" : placed(here, target->text));
  } else {
    state.pushed.push_back(here);
    go_to(call, *target);
    return std::nullopt;
  }
  return Arguments{};
}

Lines pop_folder(const Call& call) {
  State& state = call.state;
  if (call.words.size() > 1) state.pushed.clear();  // popd +1, popd -n
  if (state.pushed.empty() || state.pushed.back().empty()) {
    state.folder_why = "the stack of folders";
    return std::nullopt;
  }
  const std::string folder = state.pushed.back();
  state.pushed.pop_back();
  go_to(call, {.text = folder});
  return std::nullopt;
}

Lines declare(const Call& call) {
  const bool exports = call.words[0].text == "export" ||
                       std::ranges::find(call.words, "-x", &Argument::text) != call.words.end();
  for (const Argument& word : call.rest()) {
    const std::size_t sign = word.text.find('=');
    if (word.text.starts_with('-') || sign == 0) continue;
    std::string name = word.text.substr(0, sign);
    const bool appends = name.ends_with('+');
    if (appends) name.pop_back();
    if (exports) call.state.exported.changed().insert(name);
    if (sign == std::string::npos) continue;
    Argument value = word;
    value.text.erase(0, sign + 1);
    value.splits = false;
    if (appends) value = {.why = "variable " + name};
    call.state.variables.changed()[name] = {value};
  }
  call.follower.note_success();
  return std::nullopt;
}

// The words of a line for so many variables; the last gets all that is left.
Arguments words_for(std::size_t count, std::string_view line) {
  constexpr std::string_view kBlanks = " \t\n";
  Arguments words;
  for (std::size_t i = 0; i < count; ++i) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const std::size_t end = i + 1 < count ? std::min(line.find_first_of(kBlanks), line.size())
                                          : line.find_last_not_of(kBlanks) + 1;
    words.push_back({.text = std::string(line.substr(0, end))});
    line.remove_prefix(end);
  }
  return words;
}

// What is read into so many variables, if it is one line: of several, others may have been read before.
Lines values_read(const Call& call, const Split& taken) {
  if (!call.in || call.in->size() > 1 || taken.has("-a -d -n -N -u") || !taken.unclear.empty())
    return std::nullopt;
  const Argument line = call.in->empty() ? Argument{} : call.in->front();
  if (!line.is_text() || (line.text.contains('\\') && !taken.has("-r"))) return std::nullopt;
  const std::size_t count = taken.operands.size();
  const auto separators = call.state.variables->find("IFS");
  if (separators == call.state.variables->end()) return words_for(count, line.text);
  const bool is_whole = count == 1 && separators->second == Arguments{Argument{}};
  return is_whole ? Lines(Arguments{line}) : std::nullopt;
}

Lines read_variables(const Call& call) {
  const Split taken = split(call.behind(), {.values = "-a -d -i -n -N -p -t -u"});
  const Lines values = values_read(call, taken);
  const auto unknown = [](const std::string& name) {
    return Argument{.why = "variable " + name + ", which is read"};
  };
  for (std::size_t i = 0; i < taken.operands.size(); ++i) {
    const std::string& name = taken.operands[i].text;
    if (taken.operands[i].is_text()) call.state.set(name, values ? (*values)[i] : unknown(name));
  }
  for (const Argument& list : taken.values("-a")) {
    if (list.is_text()) call.state.variables.changed()[list.text] = {unknown(list.text)};
  }
  if (taken.operands.empty() && taken.values("-a").empty()) call.state.set("REPLY", unknown("REPLY"));
  return Arguments{};
}

// mapfile NAME: the lines, if they are known.
Lines read_lines(const Call& call) {
  const Split taken = split(call.behind(), {.values = "-C -c -d -n -O -s -u"});
  const Argument name = taken.operands.empty() ? Argument{.text = "MAPFILE"} : taken.operands.back();
  if (!name.is_text()) return Arguments{};
  const Lines lines = taken.has("-u") ? std::nullopt : pieces_read(taken.values("-d"), call.in);
  call.state.variables.changed()[name.text] =
      lines ? *lines : Arguments{{.why = "variable " + name.text + ", which is read"}};
  return Arguments{};
}

// set -P, set -eo physical, set +P; set -- a b, set a b
Lines set(const Call& call) {
  State& state = call.state;
  for (std::size_t i = 1; i < call.words.size(); ++i) {
    const std::string& text = call.words[i].text;
    const bool is_end = text == "--" || text == "-";
    if (is_end || (text[0] != '-' && text[0] != '+')) {
      if (text != "-" || i + 1 < call.words.size()) state.positional = call.rest(is_end ? i + 1 : i);
      break;
    }
    const bool has_name = text.contains('o') && i + 1 < call.words.size();
    if (text.contains('P') || (has_name && call.words[i + 1].text == "physical"))
      state.is_physical = text[0] == '-';
    if (has_name) ++i;
  }
  call.follower.note_success();
  return Arguments{};
}

Lines shift(const Call& call) {
  if (call.words.size() > 1) {
    call.state.positional = {{.why = "its arguments"}};
  } else if (!call.state.positional.empty() && call.state.positional.front().is_known()) {
    call.state.positional.erase(call.state.positional.begin());
  }
  return Arguments{};
}

Lines unset(const Call& call) {
  for (const Argument& word : call.rest()) {
    if (!word.text.starts_with('-')) call.state.variables.changed()[word.text] = {};
    call.state.functions.changed().erase(word.text);
  }
  return Arguments{};
}

Lines evaluate(const Call& call) {
  std::string text;
  for (const Argument& word : call.rest()) {
    if (!word.is_text()) {
      call.follower.note_unseen("what eval runs: " + (word.is_tree ? "files that are found" : word.why));
      return std::nullopt;
    }
    text += (text.empty() ? "" : " ") + word.text;
  }
  return call.follower.follow(text, call.state, call.in);
}

Lines source(const Call& call) {
  if (call.words.size() == 2 && call.words[1].text == "/dev/stdin") {
    if (const auto text = patch_text(call, nullptr))
      return call.follower.follow(*text, call.state, std::nullopt);
  }
  call.follower.note_unseen("a script: " + (call.words.size() > 1 ? call.words[1].text : ""));
  return std::nullopt;
}

Lines leave(const Call& call) {
  call.state.has_ended = true;
  return Arguments{};
}

Lines trap(const Call& call) {
  const std::size_t at = call.words.size() > 1 && call.words[1].text == "--" ? 2 : 1;
  if (call.words.size() < at + 2 || call.words[at].text.starts_with('-')) return Arguments{};
  State later = call.state;
  const Arguments text = {call.words[0], call.words[at]};
  evaluate({call.follower, later, text, call.in});
  return Arguments{};
}

Lines replace(const Call& call) {
  Arguments rest = call.rest();
  while (!rest.empty() && rest[0].text.starts_with('-')) {
    const bool takes_name = rest[0].text.ends_with('a') && rest.size() > 1;
    rest.erase(rest.begin(), rest.begin() + (takes_name ? 2 : 1));
  }
  if (rest.empty()) return Arguments{};
  Lines out = call.follower.run(std::move(rest), call.state, call.in);
  call.state.has_ended = true;
  return out;
}

// command, builtin: what they name, even if a function has the name.
Lines run_plain(const Call& call) {
  Arguments rest = call.rest();
  while (!rest.empty() && rest[0].text.starts_with('-')) {
    if (rest[0].text.find_first_of("vV") != std::string::npos) return std::nullopt;
    rest.erase(rest.begin());
  }
  if (rest.empty()) return Arguments{};
  auto functions = std::exchange(call.state.functions, {});
  Lines out = call.follower.run(std::move(rest), call.state, call.in);
  call.state.functions = std::move(functions);
  return out;
}

Lines succeed(const Call& call) {
  call.follower.note_success();
  return Arguments{};
}

constexpr Builtin kBuiltins[] = {
    {".", source},
    {":", succeed},
    {"builtin", run_plain},
    {"cd", change_folder},
    {"chdir", change_folder},
    {"command", run_plain},
    {"declare", declare},
    {"eval", evaluate},
    {"exec", replace},
    {"exit", leave},
    {"export", declare},
    {"local", declare},
    {"mapfile", read_lines},
    {"popd", pop_folder},
    {"pushd", push_folder},
    {"read", read_variables},
    {"readarray", read_lines},
    {"readonly", declare},
    {"set", set},
    {"shift", shift},
    {"source", source},
    {"trap", trap},
    {"true", succeed},
    {"typeset", declare},
    {"unset", unset},
};

}  // namespace

void change_directory(const Call& call, const Argument& folder) { go_to(call, folder, true); }

const Builtin* find_builtin(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kBuiltins, [&](const Builtin& one) { return same_word(one.name, name); });
  return found == std::end(kBuiltins) ? nullptr : found;
}

bool is_declaration(const Argument& word) {
  return word.is_text() && std::ranges::find(kDeclarations, word.text) != std::end(kDeclarations);
}

}  // namespace leasehold::shell
