#pragma once

#include <memory>

#include "store/clock.h"
#include "store/store.h"

namespace leasehold {

// A store in this process's memory: the plainest one that satisfies the contract. It serves tests,
// the demo, and readers who want to know what the other backends must do.
//
// `clock` must outlive the store.
std::unique_ptr<Store> open_memory_store(const StoreClock& clock);

}  // namespace leasehold
