#include "workspace/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "model/key.h"
#include "model/scope.h"
#include "util/text_hash.h"
#include "util/unique.h"

namespace leasehold {
namespace {

// The tests found so far. Each is listed once, whichever sources and rules lead to it.
class Findings {
 public:
  // True if it is known already; then the source is noted.
  bool add_source(const std::string& test, const std::string& source) {
    const auto found = index_.find(test);
    if (found == index_.end()) return false;
    add_unique(paths_[found->second].sources, source);
    return true;
  }

  void add(const std::string& test, const std::string& source, const std::string& rule) {
    index_.emplace(test, paths_.size());
    paths_.push_back({.path = test, .sources = {source}, .rule = rule});
  }

  std::vector<PairedPath> take() { return std::move(paths_); }

 private:
  std::vector<PairedPath> paths_;
  TextMap<std::size_t> index_;
};

// A rule can be put together so that a name like "..." makes a "..": such a test is not followed out of the
// tree.
bool is_key(const std::string& key) {
  const auto normalised = path_key(key, key);
  return normalised && *normalised == key;
}

}  // namespace

std::expected<PairRules, PairRuleError> PairRules::compile(std::span<const PairRule> rules) {
  PairRules compiled;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    Placeholders placeholders;
    auto source = parse_source_pattern(rules[i].source, placeholders);
    if (!source) return std::unexpected(PairRuleError{i, std::nullopt, std::move(source).error()});

    Rule rule{.name = rules[i].name, .source = std::move(*source), .tests = {}};
    for (std::size_t j = 0; j < rules[i].tests.size(); ++j) {
      auto test = parse_test_pattern(rules[i].tests[j], placeholders);
      if (!test) return std::unexpected(PairRuleError{i, j, std::move(test).error()});
      rule.tests.push_back(std::move(*test));
    }
    compiled.rules_.push_back(std::move(rule));
  }
  compiled.build_index();
  return compiled;
}

void PairRules::build_index() {
  // All extensions first: a pattern that fits any of them goes into each bucket, in the order of the rules.
  const auto note_extensions = [this](const PairPattern& pattern) {
    for (const std::string_view one : extensions(pattern)) by_extension_.try_emplace(std::string(one));
  };
  for (const Rule& rule : rules_) {
    note_extensions(rule.source);
    for (const PairPattern& test : rule.tests) note_extensions(test);
  }

  const auto for_each_bucket = [this](const PairPattern& pattern, const auto& add) {
    const auto own = extensions(pattern);
    for (const std::string_view one : own) add(by_extension_.find(one)->second);
    if (!own.empty()) return;
    for (auto& [_, bucket] : by_extension_) add(bucket);
    add(any_extension_);
  };
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    for_each_bucket(rules_[i].source, [i](Bucket& bucket) { bucket.sources.push_back(i); });
    for (std::size_t j = 0; j < rules_[i].tests.size(); ++j) {
      for_each_bucket(rules_[i].tests[j], [i, j](Bucket& bucket) { bucket.tests.push_back({i, j}); });
    }
  }
}

const PairRules::Bucket& PairRules::bucket_for(std::string_view path) const {
  const auto found = by_extension_.find(extension(path));
  return found == by_extension_.end() ? any_extension_ : found->second;
}

bool PairRules::is_test(std::string_view path, const Bucket& bucket) const {
  return std::ranges::any_of(
      bucket.tests, [&](TestRef ref) { return !match(rules_[ref.rule].tests[ref.test], path).empty(); });
}

std::vector<PairedPath> PairRules::expand(std::span<const std::string> keys, const Exists& exists) const {
  const std::unordered_set<std::string_view> requested(keys.begin(), keys.end());
  Findings findings;
  std::string candidate = "/";  // One buffer for all: nearly all candidates are only looked up.

  for (const std::string& key : keys) {
    if (!is_path(key)) continue;
    const std::string_view path = std::string_view(key).substr(1);
    const Bucket& bucket = bucket_for(path);
    if (bucket.sources.empty() || is_test(path, bucket)) continue;

    for (const std::size_t index : bucket.sources) {
      const Rule& rule = rules_[index];
      const auto consider = [&] {
        if (!exists(candidate)) return;  // First: it is the answer for nearly all.
        if (requested.contains(candidate) || findings.add_source(candidate, key) || !is_key(candidate))
          return;
        findings.add(candidate, key, rule.name);
      };
      for (const Captures& captures : match(rule.source, path)) {
        for (const PairPattern& test : rule.tests) render(test, captures, candidate, consider);
      }
    }
  }
  return findings.take();
}

}  // namespace leasehold
