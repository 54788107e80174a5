// What this process knows of etcd without asking: what its own last commits read and wrote.
//
// A commit is made only if nothing that was read has changed. So when it is made all of that is known as of
// its revision, with what it wrote itself, and the next decision on the same keys needs to read nothing.
// Should somebody have been there meanwhile its own commit fails, and it reads after all.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "store/etcd/cluster.h"
#include "store/etcd/keys.h"

namespace leasehold::etcd {

// One range or, with an empty end, one key; and what is there.
struct Remembered {
  KeyRange range;
  pb::RangeResponse found;
  std::int64_t from = 0;          // It was so at all revisions from here...
  std::int64_t to = 0;            // ...to here,
  std::chrono::nanoseconds at{};  // and at this moment, as since_boot().
};

struct FromMemory {
  std::int64_t revision = 0;             // One at which all of it was so.
  std::chrono::nanoseconds at{};         // What is told is not older.
  std::vector<pb::RangeResponse> found;  // One for each range.
};

// Thread-safe.
class Memory {
 public:
  // Everything that is asked for, or nothing.
  std::optional<FromMemory> find(const std::vector<pb::RangeRequest>& asked,
                                 std::chrono::nanoseconds not_before) const;

  // Where there is much, many come and go.
  static bool may_keep(const pb::RangeResponse& found) { return found.kvs_size() <= 32 && !found.more(); }
  void keep(Remembered known);
  void forget(const KeyRange& range);

  // What reading has found. Where others were since we knew it they may be again, and a commit that fails
  // costs more than a read: for a while nothing is told from there.
  void compare(const KeyRange& range, const pb::RangeResponse& found, std::chrono::nanoseconds now);

 private:
  struct Entry {
    Remembered known;
    std::optional<std::chrono::nanoseconds> shared;  // When somebody else was seen to have been there.
  };

  mutable std::mutex mutex_;  // Guards what follows.
  std::map<KeyRange, Entry> entries_;
};

// What a commit at `revision` made of a range. False: nothing.
bool apply(const pb::TxnRequest& commit, std::int64_t revision, const KeyRange& range,
           pb::RangeResponse& found);

}  // namespace leasehold::etcd
