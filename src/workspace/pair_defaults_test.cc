// The habits of each language, as a table: this source, these tests, by that rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "workspace/pairs.h"

namespace leasehold {
namespace {

PairRules compiled_defaults() {
  auto rules = PairRules::compile(default_pair_rules());
  EXPECT_TRUE(rules) << rules.error().what;
  return std::move(*rules);
}

struct Habit {
  std::string source;
  std::string test;
};

const Habit kHabits[] = {
    // Seed 000.
    {"/src/foo.ts", "/tests/foo.test.ts"},
    {"/src/foo.ts", "/src/foo.spec.ts"},
    {"/lib/bar.js", "/test/bar.test.js"},
    // JavaScript and TypeScript.
    {"/src/foo.ts", "/src/foo.test.ts"},
    {"/src/foo.ts", "/src/__tests__/foo.test.ts"},
    {"/src/foo.js", "/src/__tests__/foo.js"},
    {"/src/ui/Button.tsx", "/src/ui/Button.test.tsx"},
    {"/src/ui/Button.jsx", "/tests/ui/Button.spec.jsx"},
    {"/src/ui/Button.tsx", "/__tests__/ui/Button.test.tsx"},
    {"/packages/a/src/foo.ts", "/packages/a/tests/foo.test.ts"},
    {"/packages/a/src/x/foo.ts", "/packages/a/tests/unit/x/foo.test.ts"},
    {"/lib/a.mjs", "/test/a.test.mjs"},
    {"/lib/a.cjs", "/test/a.cjs"},
    {"/src/a.mts", "/src/a.spec.mts"},
    {"/src/a.cts", "/src/a.spec.cts"},
    {"/index.js", "/test/index.test.js"},
    {"/app/[id]/page.tsx", "/app/[id]/page.test.tsx"},
    {"/src/Card.vue", "/src/Card.spec.ts"},
    // Python.
    {"/pkg/foo.py", "/tests/test_foo.py"},
    {"/pkg/foo.py", "/pkg/tests/test_foo.py"},
    {"/pkg/foo.py", "/pkg/test_foo.py"},
    {"/pkg/foo.py", "/pkg/foo_test.py"},
    {"/pkg/net/foo.py", "/tests/net/test_foo.py"},
    {"/pkg/net/foo.py", "/tests/test_foo.py"},
    {"/pkg/net/foo.py", "/tests/pkg/net/test_foo.py"},
    {"/src/pkg/net/foo.py", "/tests/net/test_foo.py"},
    {"/src/pkg/foo.py", "/tests/unit/test_foo.py"},
    {"/services/api/src/pkg/foo.py", "/services/api/tests/test_foo.py"},
    {"/foo.py", "/test_foo.py"},
    // Go.
    {"/cmd/x/foo.go", "/cmd/x/foo_test.go"},
    {"/main.go", "/main_test.go"},
    // Rust.
    {"/src/foo.rs", "/tests/foo.rs"},
    {"/src/foo.rs", "/src/foo_test.rs"},
    {"/src/foo.rs", "/src/foo/tests.rs"},
    {"/crates/a/src/net/foo.rs", "/crates/a/tests/net/foo.rs"},
    {"/src/foo/mod.rs", "/src/foo/tests.rs"},
    {"/src/lib.rs", "/src/tests.rs"},
    // C and C++.
    {"/src/a/foo.cc", "/src/a/foo_test.cc"},
    {"/src/a/foo.cc", "/tests/foo_test.cc"},
    {"/src/a/foo.cc", "/tests/a/foo_test.cc"},
    {"/src/foo.cpp", "/test/foo_test.cpp"},
    {"/src/foo.c", "/src/test_foo.c"},
    {"/lib/foo.c", "/tests/test_foo.c"},
    {"/base/foo.cc", "/base/foo_unittest.cc"},
    {"/lib/Foo.cpp", "/lib/FooTest.cpp"},
    {"/lib/Foo.cpp", "/unittests/FooTest.cpp"},
    {"/src/foo.c", "/src/foo_test.cc"},
    {"/src/useFoo.ts", "/src/useFoo.test.tsx"},
    {"/src/useFoo.js", "/src/__tests__/useFoo.spec.jsx"},
    {"/llvm/lib/X/foo.cpp", "/llvm/unittests/X/foo_test.cpp"},
    // Java and Kotlin.
    {"/src/main/java/x/Foo.java", "/src/test/java/x/FooTest.java"},
    {"/src/main/java/x/Foo.java", "/src/test/java/x/FooTests.java"},
    {"/src/main/java/x/Foo.java", "/src/test/java/x/FooIT.java"},
    {"/core/src/main/java/x/Foo.java", "/core/src/test/java/x/TestFoo.java"},
    {"/app/src/main/kotlin/x/Foo.kt", "/app/src/test/kotlin/x/FooTest.kt"},
    {"/app/src/main/java/x/Foo.kt", "/app/src/androidTest/java/x/FooTest.kt"},
    {"/lib/src/commonMain/kotlin/x/Foo.kt", "/lib/src/commonTest/kotlin/x/FooTest.kt"},
    {"/src/main/scala/x/Foo.scala", "/src/test/scala/x/FooSpec.scala"},
    // Ruby.
    {"/lib/foo.rb", "/spec/foo_spec.rb"},
    {"/lib/foo.rb", "/test/foo_test.rb"},
    {"/lib/a/foo.rb", "/spec/lib/a/foo_spec.rb"},
    {"/lib/foo.rb", "/test/test_foo.rb"},
    {"/app/models/x.rb", "/spec/models/x_spec.rb"},
    {"/app/models/x.rb", "/test/models/x_test.rb"},
    // C#.
    {"/src/Proj/Foo.cs", "/tests/Proj.Tests/FooTests.cs"},
    {"/src/Proj/Net/Foo.cs", "/test/Proj.UnitTests/Net/FooTests.cs"},
    {"/Proj/Foo.cs", "/Proj.Tests/FooTests.cs"},
    {"/src/Proj/Foo.cs", "/src/Proj.Tests/FooTest.cs"},
    // PHP and others.
    {"/src/Foo.php", "/tests/FooTest.php"},
    {"/app/Http/Foo.php", "/tests/Unit/Http/FooTest.php"},
    {"/Sources/Kit/Net/Foo.swift", "/Tests/KitTests/Net/FooTests.swift"},
    {"/lib/src/foo.dart", "/test/src/foo_test.dart"},
    {"/lib/my/foo.ex", "/test/my/foo_test.exs"},
};

TEST(PairDefaults, EachLanguageFindsItsTests) {
  const PairRules rules = compiled_defaults();
  for (const auto& [source, test] : kHabits) {
    const std::vector<std::string> sources = {source};
    const auto found = rules.expand(sources, [&](const std::string& key) { return key == test; });

    ASSERT_EQ(found.size(), 1u) << source << " -> " << test;
    EXPECT_EQ(found[0].path, test);
    EXPECT_EQ(found[0].sources, sources);
    EXPECT_FALSE(found[0].rule.empty());
  }
}

TEST(PairDefaults, TestsBringNothingAlong) {
  const PairRules rules = compiled_defaults();
  for (const Habit& habit : kHabits) {
    EXPECT_TRUE(rules.expand(std::vector{habit.test}, [](const std::string&) { return true; }).empty())
        << habit.test;
  }
}

TEST(PairDefaults, OtherFilesHaveNoTests) {
  const PairRules rules = compiled_defaults();
  const std::vector<std::string> keys = {"/README.md",     "/Makefile", "/src",           "/",
                                         "port:3000",      "/src/a",    "build:src/a.ts", "/.env",
                                         "/src/foo.go.txt"};
  EXPECT_TRUE(rules.expand(keys, [](const std::string&) { return true; }).empty());
}

// Every choice that a placeholder of a rule has, in its source and in all of its tests.
std::vector<std::string> files_of(const PairRule& rule) {
  std::vector<std::string> files;
  Placeholders placeholders;
  std::vector<PairPattern> patterns = {*parse_source_pattern(rule.source, placeholders)};
  for (const std::string& test : rule.tests) patterns.push_back(*parse_test_pattern(test, placeholders));
  Captures captures;
  captures.fill("x");
  std::string file = "/";
  const auto render_all = [&] {
    for (const PairPattern& pattern : patterns)
      render(pattern, captures, file, [&] { files.push_back(file); });
  };
  for (std::size_t slot = 0; slot < placeholders.size(); ++slot) {
    for (const std::string& choice : placeholders[slot].piece.choices) {
      captures[slot] = choice;
      render_all();
    }
  }
  render_all();
  return files;
}

TEST(PairDefaults, ThoseForAFileAreAllThatHaveToDoWithIt) {
  for (const PairRule& rule : default_pair_rules()) {
    for (const std::string& file : files_of(rule)) {
      const std::vector<std::string> keys = {file};
      if (file.ends_with(".x") || file.ends_with(".xx")) continue;  // A choice that was not made yet.
      EXPECT_EQ(std::ranges::count(default_pair_rules_for(keys), rule), 1) << rule.name << " " << file;
    }
  }
  EXPECT_TRUE(default_pair_rules_for(std::vector<std::string>{"/Makefile", "/a.md"}).empty());
}

TEST(PairDefaults, NamesAreUnique) {
  std::set<std::string> names;
  for (const PairRule& rule : default_pair_rules()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
}

}  // namespace
}  // namespace leasehold
