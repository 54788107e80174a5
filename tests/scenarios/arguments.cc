#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "scenarios/duration_text.h"
#include "scenarios/verbs.h"

namespace leasehold::scenario {
namespace {

// The usage of a verb, taken apart.
struct Form {
  std::string first;  // OWNER, NAME, TIME, or nothing.
  bool may_have_paths = false;
  bool must_have_paths = false;
  std::set<std::string> flags;
  std::set<std::string> options;
  std::set<std::string> required_options;
};

Form form_of(const Verb& verb) {
  Form form;
  std::istringstream usage{std::string(verb.usage)};
  for (std::string part; usage >> part;) {
    const bool optional = part.starts_with('[');
    if (optional) part = part.substr(1, part.size() - 2);
    if (part == "OWNER" || part == "NAME" || part == "TIME") {
      form.first = part;
    } else if (part == "PATH...") {
      form.may_have_paths = true;
      form.must_have_paths = !optional;
    } else if (const std::size_t equals = part.find('='); equals != std::string::npos) {
      form.options.insert(part.substr(0, equals));
      if (!optional) form.required_options.insert(part.substr(0, equals));
    } else {
      form.flags.insert(part);
    }
  }
  return form;
}

std::string usage_of(const Verb& verb) { return fmt::format("usage: {} {}", verb.name, verb.usage); }

}  // namespace

std::string Arguments::text(const std::string& option) const {
  const auto found = options.find(option);
  return found == options.end() ? "" : found->second;
}

std::optional<Duration> Arguments::time(const std::string& option) const {
  if (!options.contains(option)) return std::nullopt;
  return parse_time(option, options.at(option));
}

std::optional<int> Arguments::number(const std::string& option) const {
  if (!options.contains(option)) return std::nullopt;
  const std::string& value = options.at(option);
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) {
    throw BadStep(fmt::format("{}={} is not a number", option, value));
  }
  return number;
}

std::vector<Scope> Arguments::scopes() const {
  std::vector<Scope> scopes;
  for (const std::string& path : paths) scopes.push_back(parse_scope(path));
  return scopes;
}

Duration parse_time(std::string_view what, std::string_view text) {
  if (const auto duration = parse_duration(text)) return *duration;
  throw BadStep(fmt::format("{} '{}' is not a time; write 5m, 90s, 1h30m or 250ms", what, text));
}

Arguments sort_out(const Step& step, const Verb& verb) {
  const Form form = form_of(verb);
  Arguments arguments;
  auto word = step.words.begin() + 1;
  if (!form.first.empty()) {
    if (word == step.words.end()) throw BadStep(fmt::format("{} is missing; {}", form.first, usage_of(verb)));
    arguments.first = *word++;
  }
  for (; word != step.words.end(); ++word) {
    if (form.flags.contains(*word)) {
      arguments.flags.insert(*word);
    } else if (form.may_have_paths && looks_like_path(*word)) {
      arguments.paths.push_back(*word);
    } else {
      throw BadStep(fmt::format("{} does not know '{}' (a path has a / . or : in it); {}", verb.name, *word,
                                usage_of(verb)));
    }
  }
  for (const auto& [name, value] : step.options) {
    if (!form.options.contains(name)) {
      throw BadStep(fmt::format("{} does not know '{}='; {}", verb.name, name, usage_of(verb)));
    }
    arguments.options[name] = value;
  }
  if (form.must_have_paths && arguments.paths.empty()) throw BadStep("a path is missing; " + usage_of(verb));
  for (const std::string& name : form.required_options) {
    if (!arguments.options.contains(name))
      throw BadStep(fmt::format("{}= is missing; {}", name, usage_of(verb)));
  }
  return arguments;
}

std::vector<Verb> all_verbs() {
  std::vector<Verb> all;
  for (const auto& some :
       {acquiring_verbs(), holding_verbs(), gate_verbs(), operator_verbs(), world_verbs()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace leasehold::scenario
