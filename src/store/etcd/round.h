// One round trip's worth of reading: ranges, and what to do with what is found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "store/etcd/cluster.h"
#include "store/etcd/keys.h"
#include "util/number.h"

namespace leasehold::etcd {

struct Round {
  using Handler = std::function<void(const pb::RangeResponse&)>;

  std::vector<pb::RangeRequest> ranges;
  std::vector<Handler> handlers;  // One for each.

  bool empty() const { return ranges.empty(); }

  pb::RangeRequest& ask(const KeyRange& range, Handler handler) {
    pb::RangeRequest& request = ask(range.first, std::move(handler));
    request.set_range_end(range.second);
    return request;
  }
  pb::RangeRequest& ask(const std::string& key, Handler handler) {
    ranges.emplace_back().set_key(key);
    handlers.push_back(std::move(handler));
    return ranges.back();
  }
};

// What a key with a number has; 0 if it is not there.
inline std::int64_t number(const pb::RangeResponse& found) {
  return found.kvs_size() == 0 ? 0 : parse_number<std::int64_t>(found.kvs(0).value()).value_or(0);
}

}  // namespace leasehold::etcd
