#include "shell/words.h"

#include <fnmatch.h>

#include <algorithm>

#include "shell/braces.h"
#include "shell/characters.h"
#include "shell/glob.h"
#include "util/unique.h"

namespace leasehold::shell {
namespace {

constexpr std::size_t kWordsMax = 1000;
constexpr std::string_view kBlanks = " \t\n";

// What stands for something else, outside of quotes.
constexpr Characters kSigns = characters("{~*?[(\x1a");

Argument unknown(std::string why) { return {.why = std::move(why)}; }

// The work that patterns make grows fast with the texts, and more so with their stars.
constexpr std::size_t kMatchedMax = 1000;
constexpr std::size_t kSubstitutedMax = 300;
constexpr std::ptrdiff_t kStarsMax = 8;

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), FNM_EXTMATCH) == 0;
}

// Takes the shortest or longest part that matches off one end.
std::string trimmed(const std::string& text, std::string_view operation, const std::string& pattern) {
  const bool in_front = operation[0] == '#';
  const bool longest = operation.size() == 2;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const std::size_t length = longest ? text.size() - i : i;
    const std::string part = in_front ? text.substr(0, length) : text.substr(text.size() - length);
    if (!matches(pattern, part)) continue;
    return in_front ? text.substr(length) : text.substr(0, text.size() - length);
  }
  return text;
}

// How many characters from `begin` on match, as many as can; 0: none.
std::size_t matched(const std::string& text, std::size_t begin, const std::string& pattern) {
  std::size_t length = text.size() - begin;
  while (length > 0 && !matches(pattern, text.substr(begin, length))) --length;
  return length;
}

// ${name/pattern/by}: of all parts that match, the first that is longest; // all of them, /# only in front,
// /% only at the end.
std::string substituted(const std::string& text, std::string_view operation, const std::string& pattern,
                        const std::string& by) {
  if (operation == "/#") {
    const std::size_t length = matched(text, 0, pattern);
    return length > 0 || pattern.empty() ? by + text.substr(length) : text;
  }
  if (operation == "/%") {
    if (pattern.empty()) return text + by;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (matches(pattern, text.substr(i))) return text.substr(0, i) + by;
    }
    return text;
  }
  std::string made;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = pattern.empty() ? 0 : matched(text, i, pattern);
    if (length == 0) {
      made += text[i++];
      continue;
    }
    made += by;
    i += length;
    if (operation == "/") return made + text.substr(i);
  }
  return made;
}

// ${name,,} and ${name^^}
std::string in_case(std::string text, std::string_view operation) {
  for (char& c : text) {
    const bool turns = operation == ",," ? c >= 'A' && c <= 'Z' : c >= 'a' && c <= 'z';
    if (turns) c = static_cast<char>(c ^ 0x20);
  }
  return text;
}

bool is_ascii(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; });
}

constexpr std::size_t kTextMax = 256 << 10;

// Behind `made`, as one word.
void append(Argument& made, const Argument& more) {
  if (!made.is_known()) return;
  if (made.text.size() + more.text.size() > kTextMax) {
    made.why = "a text that is too long";
    return;
  }
  if (!more.is_known()) {
    made.why = more.why;
    made.is_tree = false;
    return;
  }
  if (made.is_tree) {
    // Files below a folder stay there, whatever their names end with.
    if (more.is_tree || more.text.contains("..")) {
      made.why = "a name that is put together";
    } else {
      append_to_tree(made, more.text);
    }
  } else if (more.is_tree && !made.text.empty() &&
             !(made.text.ends_with('/') && !more.text.starts_with('/'))) {
    made.why = "a name that is put together";
  } else {
    made.text += more.text;
    made.is_unmatched = made.is_unmatched || more.is_unmatched;
    made.is_tree = more.is_tree;
    made.name = more.name;
    made.only_folders = more.only_folders;
    made.only_files = more.only_files;
  }
}

}  // namespace

void Expansion::add_arguments(const Word& word, Arguments& arguments) {
  // Most words are what they are.
  if (word.parts.size() == 1 && word.parts[0].kind == Part::Kind::text) {
    const Part& part = word.parts[0];
    const bool is_plain = part.quoted ? !state_.found : find_any(kSigns, part.text, 0) == part.text.size();
    if (is_plain && budget_.spend()) {
      arguments.emplace_back().text = part.text;
      return;
    }
  }
  const auto words = braced(word, kWordsMax);
  if (!words || !budget_.spend(static_cast<long>(words->size()))) {
    arguments.push_back({.why = "too many names", .splits = true});
    return;
  }
  for (Word one : *words) {
    std::vector<Building> fields(1);
    for (const Argument& home : tilde(one.parts)) {
      append(fields[0].made, home);
      fields[0].pattern = as_pattern(home.text);
      fields[0].is_begun = true;
    }
    add(one.parts, true, fields);
    for (Building& field : fields) finish(field, arguments);
  }
}

Argument Expansion::text(const Word& word) {
  if (word.parts.size() == 1 && word.parts[0].kind == Part::Kind::text && !state_.found &&
      !word.parts[0].text.starts_with('~') && word.parts[0].text.size() < kTextMax) {
    Argument itself;
    itself.text = word.parts[0].text;
    return itself;
  }
  Word copy = word;
  std::vector<Building> fields(1);
  for (const Argument& home : tilde(copy.parts)) append(fields[0].made, home);
  add(copy.parts, false, fields);
  return std::move(fields[0].made);
}

// What a ~ in front stands for; it is taken off.
Arguments Expansion::tilde(std::vector<Part>& parts) {
  if (parts.empty() || parts[0].kind != Part::Kind::text || parts[0].quoted) return {};
  std::string& text = parts[0].text;
  if (!text.starts_with('~')) return {};
  const std::string name = text.substr(1, text.find('/') - 1);
  const bool is_whole = text.find('/') != std::string::npos || parts.size() == 1;
  if (!is_whole) return {};
  text.erase(0, 1 + name.size());
  if (name.empty())
    return around_.home.empty() ? Arguments{unknown("the home folder")} : Arguments{{.text = around_.home}};
  if (name == "+") return variable("PWD");
  if (name == "-") return variable("OLDPWD");
  return {unknown("the home folder of " + name)};
}

void Expansion::add(const std::vector<Part>& parts, bool splits, std::vector<Building>& fields) {
  for (const Part& part : parts) {
    if (part.kind != Part::Kind::text) {
      add_values(value_of(part), part, splits, fields);
      continue;
    }
    Building& field = fields.back();
    append_text(field.made, part.text);
    if (splits && field.made.is_known()) field.pattern += part.quoted ? as_pattern(part.text) : part.text;
    field.is_begun = field.is_begun || part.quoted || !part.text.empty();
    field.is_pattern = field.is_pattern || (!part.quoted && has_pattern(part.text));
  }
}

// With what find or xargs put there.
void Expansion::append_text(Argument& made, std::string_view text) {
  while (state_.found && text.contains(kFound)) {
    const std::size_t at = text.find(kFound);
    append(made, {.text = std::string(text.substr(0, at))});
    append(made, *state_.found);
    text.remove_prefix(at + 1);
  }
  append(made, {.text = std::string(text)});
}

void Expansion::add_values(const Arguments& values, const Part& part, bool splits,
                           std::vector<Building>& fields) {
  if (!part.quoted && splits) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) fields.emplace_back();
      add_split(values[i], fields);
    }
    return;
  }
  const bool is_list = splits && (part.text == "@" || part.text.ends_with("[@]"));
  fields.back().is_begun = fields.back().is_begun || !is_list || !values.empty();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && is_list) fields.emplace_back().is_begun = true;
    if (i > 0 && !is_list) append(fields.back().made, {.text = part.kind == Part::Kind::output ? "\n" : " "});
    append(fields.back().made, values[i]);
    if (fields.back().made.is_known()) fields.back().pattern += as_pattern(values[i].text);
  }
}

// One that is not quoted becomes as many words as it has.
void Expansion::add_split(const Argument& value, std::vector<Building>& fields) {
  if (!value.is_text()) {
    Building& field = fields.back();
    field.made.splits = !value.is_known() && field.made.text.empty();
    append(field.made, value);
    field.is_begun = true;
    return;
  }
  if (state_.variables->contains("IFS")) {
    fields.back().made.why = "words split in a way of its own";
    fields.back().is_begun = true;
    return;
  }
  std::string_view rest = value.text;
  while (!rest.empty()) {
    const std::size_t begin = rest.find_first_not_of(kBlanks);
    if (begin != 0 && fields.back().is_begun) fields.emplace_back();
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(rest.find_first_of(kBlanks, begin), rest.size());
    const std::string_view one = rest.substr(begin, end - begin);
    Building& field = fields.back();
    append(field.made, {.text = std::string(one)});
    field.pattern += one;
    field.is_pattern = field.is_pattern || has_pattern(one);
    field.is_begun = true;
    rest.remove_prefix(end);
  }
}

void Expansion::finish(Building& field, Arguments& arguments) {
  if (!field.is_begun || !budget_.spend()) return;
  if (!field.is_pattern || !field.made.is_text()) {
    arguments.push_back(std::move(field.made));
    return;
  }
  const bool is_absolute = field.pattern.starts_with('/');
  if (!is_absolute && !state_.folder_why.empty()) {
    arguments.push_back({.text = {}, .why = state_.folder_why, .splits = true});
    return;
  }
  Arguments found;
  for (const std::string& folder : state_.folders) {
    const auto here = matching(field.pattern, folder, around_.files, budget_);
    if (!here) {
      arguments.push_back({.why = "too many files", .splits = true});
      return;
    }
    add_missing(found, *here);
    if (is_absolute) break;
  }
  if (found.empty()) {  // As shells do with what matches nothing.
    field.made.is_unmatched = true;
    found.push_back(std::move(field.made));
  }
  for (Argument& one : found) arguments.push_back(std::move(one));
}

Arguments Expansion::value_of(const Part& part) {
  if (part.kind == Part::Kind::output) return output_of(part);
  if (part.kind == Part::Kind::pipe) {
    run_(*part.script);
    return {{.text = "/dev/fd/63"}};
  }
  if (!part.operation.empty() && std::string_view("#%/^,").contains(part.operation[0]))
    return changed(variable(part.text), part);
  const Argument operand = text({part.inner});  // Commands in it run, whatever becomes of it.
  if (part.kind == Part::Kind::number) return {unknown("a computed number")};
  const std::string_view operation = part.operation;
  Arguments values = variable(part.text);
  if (operation.empty()) return values;
  // ${F:=a}, where the line has not named F before: a, unless the environment knows better.
  const bool is_given = operation == ":=" && operand.is_text() && !state_.variables->contains(part.text);
  const bool is_known = is_given || std::ranges::all_of(values, &Argument::is_text);
  if (operation == "?" || !is_known || !operand.is_text()) {
    return {unknown(part.text.empty() ? "a computed value" : "variable " + part.text)};
  }
  const bool is_empty = values.empty() || (values.size() == 1 && values[0].text.empty());
  if (operation == ":=" && is_empty) state_.variables.changed()[part.text] = {operand};
  if (operation == ":-" || operation == ":=") return is_empty ? Arguments{operand} : values;
  if (operation == ":+") return is_empty ? Arguments{} : Arguments{operand};
  return values;
}

// By a pattern, or in upper or lower case.
Arguments Expansion::changed(Arguments values, const Part& part) {
  const std::string_view operation = part.operation;
  const auto pattern = pattern_of(part.inner);
  const Argument by = text({part.other});
  const bool is_case = operation == "^^" || operation == ",,";
  // In newer shells & in the new text is what matched.
  const bool is_clear = pattern && by.is_text() && !by.text.contains('&') && pattern->size() < kMatchedMax &&
                        by.text.size() < kMatchedMax && std::ranges::count(*pattern, '*') <= kStarsMax &&
                        (!is_case || pattern->empty());
  for (Argument& value : values) {
    const long length = static_cast<long>(value.text.size());
    const std::size_t most = operation[0] == '/' ? kSubstitutedMax : kMatchedMax;
    const bool is_known = is_clear && value.is_text() && value.text.size() < most &&
                          (!is_case || is_ascii(value.text)) && budget_.spend(1 + length * length / 64);
    if (!is_known) return {unknown("variable " + part.text)};
    if (is_case) {
      value.text = in_case(std::move(value.text), operation);
    } else if (operation[0] == '/') {
      value.text = substituted(value.text, operation, *pattern, by.text);
    } else {
      value.text = trimmed(value.text, operation, *pattern);
    }
  }
  return values;
}

std::optional<std::string> Expansion::pattern_of(const std::vector<Part>& parts) {
  std::string pattern;
  for (const Part& part : parts) {
    const Arguments values = part.kind == Part::Kind::text ? Arguments{{.text = part.text}} : value_of(part);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i].is_text()) return std::nullopt;
      if (i > 0) pattern += ' ';
      pattern += part.quoted ? as_pattern(values[i].text) : values[i].text;
    }
  }
  return pattern;
}

Arguments Expansion::variable(const std::string& name) const {
  if (name == "@" || name == "*") return state_.positional;
  if (!name.empty() && name.find_first_not_of("0123456789") == std::string::npos && name != "0") {
    if (std::ranges::any_of(state_.positional, [](const Argument& one) { return !one.is_known(); }) ||
        name.size() > 3) {
      return {unknown("argument " + name)};
    }
    const std::size_t index = std::stoul(name);
    return index <= state_.positional.size() ? Arguments{state_.positional[index - 1]} : Arguments{};
  }
  const bool is_list = name.ends_with("[@]") || name.ends_with("[*]");
  const std::string plain = name.substr(0, name.find('['));
  if (plain != name && !is_list) return item(plain, name.substr(plain.size() + 1));
  if (const auto found = state_.variables->find(plain); found != state_.variables->end()) {
    if (is_list || found->second.size() <= 1) return found->second;
    return {found->second.front()};
  }
  if (name == "HOME" && !around_.home.empty()) return {{.text = around_.home}};
  if (name == "PWD" && state_.folder_why.empty() && state_.folders.size() == 1) {
    return {{.text = state_.folders[0]}};
  }
  if (name == "OLDPWD" && state_.last_folder) return {{.text = *state_.last_folder}};
  return {unknown("variable " + plain)};
}

// By a number, with the ] behind it.
Arguments Expansion::item(const std::string& list, const std::string& index) const {
  constexpr std::size_t kDigitsMax = 4;
  const auto found = state_.variables->find(list);
  // One that is not known may stand for any number of them; [5]=x stands where it says.
  const auto is_plain = [](const Argument& one) { return one.is_text() && !one.text.starts_with('['); };
  const bool is_octal = index.size() > 2 && index.starts_with('0');
  if (found == state_.variables->end() || !std::ranges::all_of(found->second, is_plain) ||
      index.size() > kDigitsMax || is_octal) {
    return {unknown("variable " + list)};
  }
  const std::size_t at = std::stoul(index);
  return at < found->second.size() ? Arguments{found->second[at]} : Arguments{};
}

Arguments Expansion::output_of(const Part& part) {
  const Lines lines = run_(*part.script);
  if (!lines) return {unknown("what a command prints")};
  const bool is_all_text = std::ranges::all_of(*lines, &Argument::is_text);
  if (part.quoted && !is_all_text && lines->size() > 1) return {unknown("what a command prints")};
  return *lines;
}

}  // namespace leasehold::shell
