// One round trip's worth of reading: what to watch, what to ask, and what to do with the answers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "leasehold/lease.h"
#include "store/redis/reply.h"

namespace leasehold::redis {

struct Round {
  using Handler = std::function<void(ReplyView)>;

  std::vector<std::string> watched;
  std::vector<std::string> paths;    // Each with its document and its queue.
  std::vector<Owner> owners;         // Each with its notices, its waits, and how many leases it has.
  std::vector<std::string> strings;  // Keys; `string_handlers` has one for each.
  std::vector<Handler> string_handlers;
  std::vector<std::string> words;  // The other reads, as the script takes them; `handlers` has one for each.
  std::vector<Handler> handlers;
  int tokens = 0;
  bool may_be_late = false;  // It does not matter if something read before has changed.

  bool empty() const {
    return paths.empty() && owners.empty() && strings.empty() && handlers.empty() && tokens == 0;
  }

  void ask(std::vector<std::string> read, Handler handler) {
    words.insert(words.end(), std::make_move_iterator(read.begin()), std::make_move_iterator(read.end()));
    handlers.push_back(std::move(handler));
  }
};

}  // namespace leasehold::redis
