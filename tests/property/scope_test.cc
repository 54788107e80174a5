// The functions that know how paths nest, against the slow and obvious way: lists of names.
#include "model/scope.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "support/print.h"

namespace leasehold {
namespace {

// A path as the list of its names. Other resources are one name that no path has.
std::vector<std::string> names(const std::string& path) {
  if (!path.starts_with('/')) return {':' + path};
  std::vector<std::string> found;
  std::string name;
  for (const char c : path.substr(1) + '/') {
    if (c != '/') {
      name += c;
    } else if (!name.empty()) {
      found.push_back(std::exchange(name, ""));
    }
  }
  return found;
}

std::string path_of(const std::vector<std::string>& list) {
  std::string path;
  for (const std::string& name : list) path += '/' + name;
  return path.empty() ? "/" : path;
}

bool is_at_or_below(const std::string& path, const std::string& directory) {
  if (path.starts_with('/') != directory.starts_with('/')) return false;
  const auto all = names(path);
  const auto above = names(directory);
  return above.size() <= all.size() && std::equal(above.begin(), above.end(), all.begin());
}

bool naive_overlaps(const Scope& a, const Scope& b) {
  if (a.path == b.path) return true;
  return (a.subtree && is_at_or_below(b.path, a.path)) || (b.subtree && is_at_or_below(a.path, b.path));
}

bool naive_covers(const Scope& outer, const Scope& inner) {
  if (!outer.subtree) return !inner.subtree && outer.path == inner.path;
  return is_at_or_below(inner.path, outer.path);
}

// Names that begin alike, and characters that sort around the slash, trip up whoever compares text.
rc::Gen<std::string> any_key() {
  const auto name = rc::gen::element<std::string>("a", "ab", "a.b", "a-", "a0", "b", "\u00e9");
  const auto path =
      rc::gen::map(rc::gen::resize(4, rc::gen::container<std::vector<std::string>>(name)), path_of);
  return rc::gen::weightedOneOf<std::string>(
      {{9, path}, {1, rc::gen::element<std::string>("port:1", "port:10", "a:/a")}});
}

rc::Gen<Scope> any_scope() {
  return rc::gen::map(rc::gen::pair(any_key(), rc::gen::arbitrary<bool>()),
                      [](const std::pair<std::string, bool>& parts) {
                        return Scope{parts.first, parts.second && is_path(parts.first)};
                      });
}

}  // namespace

void showValue(const Scope& scope, std::ostream& out) {
  out << scope.path << (scope.subtree ? " and all below" : "");
}

namespace {

RC_GTEST_PROP(Scopes, OverlapAsTheirNamesSay, ()) {
  const Scope a = *any_scope();
  const Scope b = *any_scope();

  RC_CLASSIFY(overlaps(a, b), "overlap");
  RC_ASSERT(overlaps(a, b) == naive_overlaps(a, b));
  RC_ASSERT(overlaps(a, b) == overlaps(b, a));
  RC_ASSERT(overlaps(a, a));
}

RC_GTEST_PROP(Scopes, CoverAsTheirNamesSay, ()) {
  const Scope a = *any_scope();
  const Scope b = *any_scope();
  const Scope c = *any_scope();

  RC_CLASSIFY(covers(a, b), "covers");
  RC_ASSERT(covers(a, b) == naive_covers(a, b));
  RC_ASSERT(covers(a, a));
  if (covers(a, b)) RC_ASSERT(overlaps(a, b));
  if (covers(a, b) && covers(b, c)) RC_ASSERT(covers(a, c));
  // Whoever holds more is in the way of whatever is in the way of less.
  if (covers(a, b) && overlaps(b, c)) RC_ASSERT(overlaps(a, c));
}

RC_GTEST_PROP(Scopes, AncestorsAreAllThatIsAboveNearestFirst, ()) {
  const std::string path = *any_key();

  std::vector<std::string> expected;
  if (path.starts_with('/')) {
    for (auto list = names(path); !list.empty();) {
      list.pop_back();
      expected.push_back(path_of(list));
    }
  }
  RC_ASSERT(ancestors(path) == expected);
}

RC_GTEST_PROP(Scopes, ThePrefixBelowIsThatOfEverythingBelowAndOfNothingElse, ()) {
  const std::string directory = *rc::gen::suchThat(any_key(), is_path);
  const std::string path = *any_key();

  const bool is_below = path != directory && is_at_or_below(path, directory);
  const bool has_prefix = path.starts_with(prefix_below(directory)) && path != directory;
  RC_ASSERT(has_prefix == is_below);
}

}  // namespace
}  // namespace leasehold
