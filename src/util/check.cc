#include "util/check.h"

#include <cstdio>
#include <cstdlib>

namespace leasehold {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "leasehold: broken invariant: %s (%s:%d). This is a bug; nothing was written.\n",
               condition, file, line);
  std::abort();
}

}  // namespace leasehold
