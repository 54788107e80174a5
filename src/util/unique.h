// Lists without repeats, for the few items that do not need a set.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace leasehold {

template <class Item, class Value, class Projection = std::identity>
bool contains(const std::vector<Item>& list, const Value& value, Projection projection = {}) {
  return std::ranges::find(list, value, projection) != list.end();
}

template <class Item>
void add_unique(std::vector<Item>& list, Item item) {
  if (!contains(list, item)) list.push_back(std::move(item));
}

template <class Item>
void add_missing(std::vector<Item>& list, const std::vector<Item>& others) {
  for (const Item& other : others) add_unique(list, other);
}

}  // namespace leasehold
