#include "workspace/pair_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "util/check.h"
#include "util/utf8.h"
#include "workspace/project_file.h"

namespace leasehold {
namespace {

// A rule as it stands in the file, with the lines to name when it is wrong.
struct WrittenRule {
  PairRule rule;
  bool enabled = true;
  unsigned line = 0;
  unsigned source_line = 0;
  std::vector<unsigned> test_lines;
};

struct Written {
  bool enabled = true;
  bool replace = false;
  std::vector<WrittenRule> rules;
};

class Loader {
 public:
  explicit Loader(std::string_view file) : file_(file) {}

  Result<Written> load(const TomlValue& pairs) {
    const auto* table = pairs.as<TomlTable>();
    if (table == nullptr) return config_error(file_, pairs.line, "pairs has to be a table: [pairs]");
    if (auto known = only(*table, "[pairs]", {"enabled", "mode", "rule"}); !known) return fail(known.error());

    Written written;
    if (auto read = flag(*table, "enabled", written.enabled); !read) return fail(read.error());
    if (const TomlValue* mode = table->find("mode")) {
      const auto* word = mode->as<std::string>();
      if (word == nullptr || (*word != "extend" && *word != "replace")) {
        return config_error(
            file_, mode->line,
            "mode has to be \"extend\" (add to the built-in rules) or \"replace\" (do without them)");
      }
      written.replace = *word == "replace";
    }
    if (const TomlValue* rules = table->find("rule")) {
      const auto* list = rules->as<TomlArray>();
      if (list == nullptr)
        return config_error(file_, rules->line, "rule has to be a list of tables: [[pairs.rule]]");
      for (const TomlValue& item : *list) {
        auto rule = load_rule(item, written.rules);
        if (!rule) return fail(std::move(rule).error());
        written.rules.push_back(std::move(*rule));
      }
    }
    return written;
  }

 private:
  Result<WrittenRule> load_rule(const TomlValue& item, const std::vector<WrittenRule>& before) {
    const auto* table = item.as<TomlTable>();
    if (table == nullptr)
      return config_error(file_, item.line, "rule has to be a list of tables: [[pairs.rule]]");
    if (auto known = only(*table, "[[pairs.rule]]", {"name", "source", "tests", "enabled"}); !known) {
      return fail(known.error());
    }

    WrittenRule written{
        .rule = {}, .enabled = true, .line = item.line, .source_line = item.line, .test_lines = {}};
    const TomlValue* name = table->find("name");
    if (name == nullptr || name->as<std::string>() == nullptr || name->as<std::string>()->empty()) {
      return config_error(file_, name == nullptr ? item.line : name->line,
                          "a pair rule needs a name, to say later which rule added a test");
    }
    written.rule.name = *name->as<std::string>();
    if (std::ranges::any_of(before,
                            [&](const WrittenRule& one) { return one.rule.name == written.rule.name; })) {
      return config_error(file_, name->line,
                          fmt::format("there are two pair rules named {}", in_quotes(written.rule.name)));
    }
    if (auto read = flag(*table, "enabled", written.enabled); !read) return fail(read.error());
    if (!written.enabled) return written;  // It only switches a built-in rule off, and needs no patterns.
    if (auto read = load_patterns(*table, written); !read) return fail(read.error());
    return written;
  }

  Result<void> load_patterns(const TomlTable& table, WrittenRule& written) {
    const std::string shown = in_quotes(written.rule.name);
    const TomlValue* source = table.find("source");
    if (source == nullptr || source->as<std::string>() == nullptr) {
      return config_error(
          file_, source == nullptr ? written.line : source->line,
          fmt::format("pair rule {} needs a source, such as \"src/{{sub}}/{{name}}.ts\"", shown));
    }
    written.rule.source = *source->as<std::string>();
    written.source_line = source->line;

    const TomlValue* tests = table.find("tests");
    const auto* list = tests == nullptr ? nullptr : tests->as<TomlArray>();
    if (list == nullptr || list->empty()) {
      return config_error(file_, tests == nullptr ? written.line : tests->line,
                          fmt::format("pair rule {} needs tests, a list of patterns such as "
                                      "[\"tests/{{sub}}/{{name}}.test.ts\"]",
                                      shown));
    }
    for (const TomlValue& test : *list) {
      const auto* text = test.as<std::string>();
      if (text == nullptr) {
        return config_error(file_, test.line,
                            fmt::format("pair rule {}: each of its tests has to be a text", shown));
      }
      written.rule.tests.push_back(*text);
      written.test_lines.push_back(test.line);
    }
    return {};
  }

  Result<void> flag(const TomlTable& table, std::string_view key, bool& out) {
    const TomlValue* value = table.find(key);
    if (value == nullptr) return {};
    const auto* given = value->as<bool>();
    if (given == nullptr)
      return config_error(file_, value->line, fmt::format("{} has to be true or false", key));
    out = *given;
    return {};
  }

  // A misspelt key would be a rule that silently does nothing.
  Result<void> only(const TomlTable& table, std::string_view where,
                    std::initializer_list<std::string_view> keys) {
    for (const TomlEntry& entry : table.entries) {
      if (std::ranges::find(keys, entry.key) != keys.end()) continue;
      return config_error(file_, entry.value.line,
                          fmt::format("{} does not know {}; it knows {}", where, in_quotes(entry.key),
                                      fmt::join(keys, ", ")));
    }
    return {};
  }

  std::string_view file_;
};

std::unexpected<Error> pattern_error(const Written& written, const PairRuleError& error,
                                     std::string_view file) {
  // Built-in rules come last and are right, so the rule is one of the file's. Switched-off ones were left
  // out.
  std::size_t left = error.rule;
  for (const WrittenRule& one : written.rules) {
    if (!one.enabled || left-- > 0) continue;
    const unsigned line = error.test ? one.test_lines[*error.test] : one.source_line;
    const std::string& pattern = error.test ? one.rule.tests[*error.test] : one.rule.source;
    return config_error(file, line,
                        fmt::format("pair rule {}: {} {}: {}", in_quotes(one.rule.name),
                                    error.test ? "test" : "source", in_quotes(pattern), error.what));
  }
  LEASEHOLD_CHECK(false);
  std::unreachable();
}

}  // namespace

Result<PairRules> pair_rules(const TomlTable& config, std::string_view file) {
  Written written;
  if (const TomlValue* pairs = config.find("pairs")) {
    auto loaded = Loader(file).load(*pairs);
    if (!loaded) return fail(std::move(loaded).error());
    written = std::move(*loaded);
  }

  std::vector<PairRule> rules;
  for (const WrittenRule& one : written.rules) {
    if (one.enabled) rules.push_back(one.rule);
  }
  if (!written.replace) {
    for (PairRule& one : default_pair_rules()) {
      const auto same_name = [&](const WrittenRule& own) { return own.rule.name == one.name; };
      if (std::ranges::none_of(written.rules, same_name)) rules.push_back(std::move(one));
    }
  }
  auto compiled = PairRules::compile(rules);
  if (!compiled) return pattern_error(written, compiled.error(), file);
  // Also when pairing is off: what is wrong is said now, not when it is switched on again.
  if (!written.enabled) return PairRules();
  return std::move(*compiled);
}

}  // namespace leasehold
