#include "util/word_list.h"

#include <algorithm>

namespace leasehold {

bool is_listed(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == item) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end > 0) words.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

}  // namespace leasehold
