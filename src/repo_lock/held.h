#pragma once

#include <string>

#include "leasehold/repo_lock.h"
#include "repo_lock/files.h"

namespace leasehold {

// What a guard knows of its lock.
struct RepoLockGuard::Held {
  std::string folder;
  Descriptor file;  // Kept open: so no other file can get its number, and be taken for ours.
  std::uint64_t generation = 0;
  bool was_waited_for = false;  // An unlock failed already: nobody waits for it a second time unasked.

  std::string path() const { return folder + "/.lock"; }

  // Gives the lock back, waiting so long for whoever is inside the guard; an error other than `lost` leaves
  // it as it is.
  Result<void> release(std::chrono::milliseconds at_most) const;
};

}  // namespace leasehold
