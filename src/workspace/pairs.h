// Pairs: whoever changes a source file nearly always changes its test, so both are leased together. Source to
// test only.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workspace/pair_pattern.h"

namespace leasehold {

// Which tests belong to which sources. pair_pattern.h has the language of the patterns.
struct PairRule {
  std::string name;
  std::string source;
  std::vector<std::string> tests;

  bool operator==(const PairRule&) const = default;
};

// The habits of the common languages.
std::vector<PairRule> default_pair_rules();
// Those of them that may have to do with these files: a command that names a few need not make all ready.
std::vector<PairRule> default_pair_rules_for(std::span<const std::string> keys);

// A test that comes along with what was asked for.
struct PairedPath {
  std::string path;
  std::vector<std::string> sources;  // Which of the requested paths it belongs to.
  std::string rule;                  // The rule that found it first.

  bool operator==(const PairedPath&) const = default;
};

struct PairRuleError {
  std::size_t rule = 0;             // Its place in the list.
  std::optional<std::size_t> test;  // Which of its tests; nothing: its source, or the rule as a whole.
  std::string what;
};

// Rules made ready for use. Immutable: any thread may ask. Default-constructed: no rules, no pairs.
class PairRules {
 public:
  static std::expected<PairRules, PairRuleError> compile(std::span<const PairRule> rules);

  // Answers whether there is a regular file of that key. Called for many that do not exist.
  using Exists = std::function<bool(const std::string& key)>;

  // The existing tests of `keys` that are not among them, each once; in the order of the keys, then of the
  // rules. A test brings nothing along, and neither does what is not a file. Pure, but for `exists`.
  std::vector<PairedPath> expand(std::span<const std::string> keys, const Exists& exists) const;

 private:
  struct Rule {
    std::string name;
    PairPattern source;
    std::vector<PairPattern> tests;
  };
  struct TestRef {
    std::size_t rule;
    std::size_t test;
  };
  // What may fit a path, by the extension of the path.
  struct Bucket {
    std::vector<std::size_t> sources;  // Rules.
    std::vector<TestRef> tests;
  };

  void build_index();
  const Bucket& bucket_for(std::string_view path) const;
  bool is_test(std::string_view path, const Bucket& bucket) const;

  std::vector<Rule> rules_;
  std::map<std::string, Bucket, std::less<>> by_extension_;
  Bucket any_extension_;  // For extensions that no rule names.
};

}  // namespace leasehold
