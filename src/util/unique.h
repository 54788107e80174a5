// Lists without repeats, for the few items that do not need a set.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace leasehold {

template <class Item>
void add_unique(std::vector<Item>& list, Item item) {
  if (std::ranges::find(list, item) == list.end()) list.push_back(std::move(item));
}

template <class Item>
void add_missing(std::vector<Item>& list, const std::vector<Item>& others) {
  for (const Item& other : others) add_unique(list, other);
}

}  // namespace leasehold
