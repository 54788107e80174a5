// The habits of the common languages, as data. Only tests that mirror the place of their source are listed,
// and flat test folders where a language favours them: a pair that is none makes two agents wait for each
// other without need.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "util/word_list.h"
#include "workspace/pairs.h"

namespace leasehold {
namespace {

constexpr std::size_t kTestsMax = 5;

struct Default {
  std::string_view name;        // Projects override and switch off rules by name: never rename.
  std::string_view extensions;  // Of all files that its patterns fit, with blanks between.
  std::string_view source;
  std::string_view tests[kTestsMax];  // The rest is empty.
};

constexpr Default kDefaults[] = {
    {.name = "javascript",
     .extensions = "ts tsx js jsx mts cts mjs cjs",
     .source = "{dir}/{name}.{ext:ts|tsx|js|jsx|mts|cts|mjs|cjs}",
     .tests = {"{dir}/{name}.{test|spec}.{ext}", "{dir}/__tests__/{name}.{test|spec}.{ext}",
               "{dir}/__tests__/{name}.{ext}", "{dir}/{tests|test}/{name}.{test|spec}.{ext}"}},
    {.name = "javascript-tests-folder",
     .extensions = "ts tsx js jsx mts cts mjs cjs",
     .source = "{dir}/{src|lib|app}/{sub}/{name}.{ext:ts|tsx|js|jsx|mts|cts|mjs|cjs}",
     .tests = {"{dir}/{tests|test|__tests__|spec}/{sub}/{name}.{test|spec}.{ext}",
               "{dir}/{tests|test}/unit/{sub}/{name}.{test|spec}.{ext}", "{dir}/test/{sub}/{name}.{ext}"}},
    {.name = "javascript-jsx-test",
     .extensions = "ts js tsx jsx",  // A hook or a helper whose test renders something.
     .source = "{dir}/{name}.{ext:ts|js}",
     .tests = {"{dir}/{name}.{test|spec}.{ext}x", "{dir}/__tests__/{name}.{test|spec}.{ext}x"}},
    {.name = "javascript-component",
     .extensions = "vue svelte ts js",
     .source = "{dir}/{name}.{kind:vue|svelte}",
     .tests = {"{dir}/{name}.{test|spec}.{ts|js}", "{dir}/__tests__/{name}.{test|spec}.{ts|js}"}},

    {.name = "python",
     .extensions = "py",
     .source = "{dir}/{name}.py",
     .tests = {"{dir}/test_{name}.py", "{dir}/{name}_test.py", "{dir}/{tests|test}/test_{name}.py",
               "{dir}/{tests|test}/{name}_test.py"}},
    {.name = "python-tests-folder",
     .extensions = "py",
     .source = "{dir}/{package}/{sub}/{name}.py",
     .tests = {"{dir}/{tests|test}/{sub}/test_{name}.py", "{dir}/{tests|test}/{sub}/{name}_test.py",
               "{dir}/{tests|test}/test_{name}.py", "{dir}/{tests|test}/{package}/{sub}/test_{name}.py",
               "{dir}/{tests|test}/unit/{sub}/test_{name}.py"}},
    {.name = "python-src-layout",
     .extensions = "py",
     .source = "{dir}/src/{package}/{sub}/{name}.py",
     .tests = {"{dir}/{tests|test}/{sub}/test_{name}.py", "{dir}/{tests|test}/test_{name}.py",
               "{dir}/{tests|test}/unit/{sub}/test_{name}.py"}},

    {.name = "go", .extensions = "go", .source = "{dir}/{name}.go", .tests = {"{dir}/{name}_test.go"}},

    {.name = "rust",
     .extensions = "rs",
     .source = "{dir}/src/{sub}/{name}.rs",
     .tests = {"{dir}/tests/{sub}/{name}.rs", "{dir}/tests/{sub}/{name}_test.rs",
               "{dir}/tests/{sub}/test_{name}.rs", "{dir}/src/{sub}/{name}{_test|_tests}.rs",
               "{dir}/src/{sub}/{name}/{tests|test}.rs"}},
    {.name = "rust-module",
     .extensions = "rs",
     .source = "{dir}/{mod|lib|main}.rs",
     .tests = {"{dir}/{tests|test}.rs"}},

    {.name = "c",
     .extensions = "c cc cpp cxx",
     .source = "{dir}/{name}.{ext:c|cc|cpp|cxx}",
     .tests = {"{dir}/{name}{_test|_tests|_unittest|.test|Test|Tests}.{ext}", "{dir}/test_{name}.{ext}",
               "{dir}/{tests|test}/{name}{_test|_tests|Test|Tests}.{ext}",
               "{dir}/{tests|test}/test_{name}.{ext}"}},
    {.name = "c-tested-in-cpp",
     .extensions = "c cc cpp",
     .source = "{dir}/{name}.c",
     .tests = {"{dir}/{name}_test.{cc|cpp}", "{dir}/{tests|test}/{name}_test.{cc|cpp}"}},
    {.name = "c-tests-folder",
     .extensions = "c cc cpp cxx",
     .source = "{dir}/{src|lib|source}/{sub}/{name}.{ext:c|cc|cpp|cxx}",
     .tests = {"{dir}/{tests|test|unittests}/{sub}/{name}{_test|_tests|_unittest|Test|Tests}.{ext}",
               "{dir}/{tests|test}/{sub}/test_{name}.{ext}", "{dir}/{tests|test}/{name}{_test|_tests}.{ext}",
               "{dir}/{tests|test}/test_{name}.{ext}"}},

    {.name = "java",
     .extensions = "java kt scala groovy",
     .source = "{dir}/src/main/{language:java|kotlin|scala|groovy}/{sub}/{name}.{ext:java|kt|scala|groovy}",
     .tests = {"{dir}/src/{test|androidTest}/{language}/{sub}/{name}{Test|Tests|IT|Spec}.{ext}",
               "{dir}/src/test/{language}/{sub}/Test{name}.{ext}"}},
    {.name = "kotlin-multiplatform",
     .extensions = "kt",
     .source = "{dir}/src/{target}Main/kotlin/{sub}/{name}.kt",
     .tests = {"{dir}/src/{target}Test/kotlin/{sub}/{name}{Test|Tests}.kt"}},

    {.name = "ruby",
     .extensions = "rb",
     .source = "{dir}/{lib|app}/{sub}/{name}.rb",
     .tests = {"{dir}/spec/{sub}/{name}_spec.rb", "{dir}/test/{sub}/{name}_test.rb",
               "{dir}/test/{sub}/test_{name}.rb"}},
    {.name = "ruby-lib",
     .extensions = "rb",
     .source = "{dir}/lib/{sub}/{name}.rb",
     .tests = {"{dir}/spec/lib/{sub}/{name}_spec.rb", "{dir}/test/lib/{sub}/{name}_test.rb"}},

    {.name = "csharp",
     .extensions = "cs",
     .source = "{dir}/src/{project}/{sub}/{name}.cs",
     .tests = {"{dir}/{tests|test}/{project}.{Tests|Test|UnitTests}/{sub}/{name}{Tests|Test}.cs"}},
    {.name = "csharp-sibling",
     .extensions = "cs",
     .source = "{dir}/{project}/{sub}/{name}.cs",
     .tests = {"{dir}/{project}.{Tests|Test|UnitTests}/{sub}/{name}{Tests|Test}.cs"}},

    {.name = "php",
     .extensions = "php",
     .source = "{dir}/{src|app|lib}/{sub}/{name}.php",
     .tests = {"{dir}/tests/{sub}/{name}Test.php", "{dir}/tests/{Unit|Feature}/{sub}/{name}Test.php"}},

    {.name = "swift",
     .extensions = "swift",
     .source = "{dir}/Sources/{module}/{sub}/{name}.swift",
     .tests = {"{dir}/Tests/{module}Tests/{sub}/{name}{Tests|Test}.swift"}},
    {.name = "dart",
     .extensions = "dart",
     .source = "{dir}/lib/{sub}/{name}.dart",
     .tests = {"{dir}/test/{sub}/{name}_test.dart"}},
    {.name = "elixir",
     .extensions = "ex exs",
     .source = "{dir}/lib/{sub}/{name}.ex",
     .tests = {"{dir}/test/{sub}/{name}_test.exs"}},
};

PairRule rule_of(const Default& row) {
  PairRule rule = {std::string(row.name), std::string(row.source), {}};
  for (const std::string_view test : row.tests) {
    if (!test.empty()) rule.tests.emplace_back(test);
  }
  return rule;
}

}  // namespace

std::vector<PairRule> default_pair_rules() {
  std::vector<PairRule> rules;
  rules.reserve(std::size(kDefaults));
  for (const Default& row : kDefaults) rules.push_back(rule_of(row));
  return rules;
}

std::vector<PairRule> default_pair_rules_for(std::span<const std::string> keys) {
  std::vector<PairRule> rules;
  for (const Default& row : kDefaults) {
    const auto fits = [&](const std::string& key) { return is_listed(row.extensions, extension(key)); };
    if (std::ranges::any_of(keys, fits)) rules.push_back(rule_of(row));
  }
  return rules;
}

}  // namespace leasehold
