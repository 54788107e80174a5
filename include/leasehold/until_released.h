#pragma once

#include <chrono>

#include "leasehold/lease.h"

namespace leasehold {

// As a request's TTL: the lease ends when it is released (by its owner, an operator, or its process's death),
// and no cap applies. Its expires_at is kForever. For locks that people take; a program that may die keeps to
// a TTL.
//
// A millennium: a number that every store and JSON can carry. Stored; never change it.
inline constexpr Duration kUntilReleased = std::chrono::hours(24) * 365'000;

}  // namespace leasehold
