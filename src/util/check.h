// A broken invariant is a bug: stop rather than grant on wrong ground. Stays on in release builds.
#pragma once

#define LEASEHOLD_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::leasehold::check_failed(#condition, __FILE__, __LINE__))

namespace leasehold {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace leasehold
