#include "cli/held_twice.h"

#include <map>
#include <string>
#include <vector>

#include "model/mode.h"
#include "model/scope.h"

namespace leasehold {
namespace {

bool exclude_each_other(const Lease& a, const Lease& b) {
  return a.holder.owner != b.holder.owner && !compatible(a.mode, b.mode) && overlaps(a, b);
}

}  // namespace

std::optional<std::pair<Lease, Lease>> held_twice(const Board& board) {
  std::map<std::string, std::vector<const Lease*>, std::less<>> held;
  for (const BoardRow& row : board.rows) {
    if (row.live && row.lease.status == Status::active) held[row.lease.path].push_back(&row.lease);
  }
  for (const auto& [path, here] : held) {
    std::vector<std::string> places = ancestors(path);
    places.push_back(path);
    for (const std::string& place : places) {
      const auto there = held.find(place);
      if (there == held.end()) continue;
      for (const Lease* const a : there->second) {
        for (const Lease* const b : here) {
          if (a != b && exclude_each_other(*a, *b)) return std::pair(*a, *b);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace leasehold
