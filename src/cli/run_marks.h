// Several `lease run` of one owner may have the same lease. It must last until the last of them ends.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "leasehold/calls.h"
#include "util/descriptor.h"

namespace leasehold {

// Beside the leases, for each a file that those who run under it keep locked together. On this machine only:
// what one owner runs under one lease on two machines ends with the first.
class RunMarks {
 public:
  // Joins in: makes the files of those that this call `brought`, and of the others takes part in what is
  // there. What was held before any of them has no such file, and nobody who runs gives it back.
  RunMarks(std::span<const Lease> leases, std::span<const LeaseId> brought);
  RunMarks(const RunMarks&) = delete;
  RunMarks& operator=(const RunMarks&) = delete;
  ~RunMarks();

  // At the end: which to give back, because nobody else runs under them.
  std::vector<LeaseId> take_last();

  // Others who run under one of the leases, and may be gone already.
  struct Other {
    LeaseId lease;
    std::string mark;  // The file.
    std::vector<pid_t> pids;
  };
  std::vector<Other> others() const;

 private:
  struct Mark {
    LeaseId lease;
    std::string path;
    int descriptor = -1;
  };
  std::vector<Mark> marks_;
  std::vector<Descriptor> given_back_;
};

}  // namespace leasehold
