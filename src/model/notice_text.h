// Notices for people and models: one wording, whoever tells them.
#pragma once

#include <string>

#include "leasehold/lease.h"

namespace leasehold {

// What is asked back and not over yet is no loss: it can be finished and given back.
inline bool is_loss(const Notice& notice, Time now) {
  return !notice.received && !(notice.cause == EndCause::recalled && now < notice.at);
}

// One sentence, with its period. `now` is what the clock on the wall shows.
std::string notice_text(const Notice& notice, WallTime now);

// The scope of a lease or notice: a directory and all below it ends in /**.
std::string scope_text(const std::string& path, bool subtree);

}  // namespace leasehold
