#include "util/short_slice.h"

// These and <sched.h>, which most headers of C++ bring along, exclude each other.
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace leasehold {
namespace {

// The least that Linux takes.
constexpr unsigned long long kShort = 100'000;

// Returns what it was.
unsigned long long set_slice(unsigned long long nanoseconds) {
  sched_attr attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return 0;
  if (attributes.sched_policy != SCHED_NORMAL && attributes.sched_policy != SCHED_BATCH) return 0;
  const unsigned long long before = attributes.sched_runtime;
  attributes.sched_runtime = nanoseconds;
  if (before == 0 || syscall(SYS_sched_setattr, 0, &attributes, 0) != 0) return 0;
  return before;
}

}  // namespace

ShortSlice::ShortSlice() : before_(set_slice(kShort)) {}

ShortSlice::~ShortSlice() {
  if (before_ != 0) set_slice(before_);
}

}  // namespace leasehold
