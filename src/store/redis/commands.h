// What goes into one MULTI/EXEC.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/redis/connection.h"
#include "store/redis/transaction.h"
#include "store/stored.h"

namespace leasehold::redis {

struct Commands {
  Commands(Shared& all, std::string& scratch) : shared(all), bytes(scratch) { bytes.clear(); }

  static constexpr std::size_t kMost = 200'000;

  struct Gathered {
    std::string words;
    std::size_t count = 0;
  };

  Shared& shared;
  std::string& bytes;
  std::map<std::pair<std::string_view, std::string>, Gathered> gathered;  // By command and key.
  std::size_t count = 0;
  std::set<Owner> takers;                                     // Have leases they did not have.
  std::set<Owner> givers;                                     // Have fewer leases than before.
  std::vector<std::string> new_keys;                          // Must not exist.
  std::vector<std::pair<std::string, std::string>> unproven;  // Keys and their types.

  void add(std::initializer_list<std::string_view> words) {
    Connection::format(bytes, Words(words.begin(), words.size()));
    ++count;
  }

  // The same, but one command for all that is done so to a key. An empty key: `words` begin with one. Nothing
  // is both put into a key and taken out of it, so the order does not matter.
  void gather(std::string_view command, std::string_view key, std::initializer_list<std::string_view> words) {
    Gathered& all = gathered[{command, std::string(key)}];
    Connection::format_words(all.words, Words(words.begin(), words.size()));
    all.count += words.size();
  }

  void finish() {
    for (const auto& [what, rest] : gathered) {
      const std::string_view head[] = {what.first, what.second};
      const Words words(head, what.second.empty() ? 1 : 2);
      Connection::format_count(bytes, '*', words.size() + rest.count);
      Connection::format_words(bytes, words);
      bytes += rest.words;
      ++count;
    }
    gathered.clear();
  }

  // A key that is written without having been read.
  std::string blind(const std::string& key, const char* type) {
    const std::lock_guard lock(shared.mutex);
    if (!shared.proven.contains(key)) unproven.emplace_back(key, type);
    return key;
  }

  void prove() const {
    const std::lock_guard lock(shared.mutex);
    if (shared.proven.size() > kMost) shared.proven.clear();
    for (const auto& [key, type] : unproven) shared.proven.insert(key);
  }
};

}  // namespace leasehold::redis
