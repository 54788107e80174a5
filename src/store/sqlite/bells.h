// Bells across processes: one named pipe for each ticket somebody listens to.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace leasehold::sqlite {

// Of one folder, which exists. Safe for threads. Bells may outlive it.
class Bells {
 public:
  explicit Bells(std::string folder);

  // A ticket's id is part of a file name. Errors: invalid_argument, unavailable.
  Result<std::unique_ptr<Bell>> listen(const GroupId& ticket) const;

  // Heard by whoever listens now; what nobody listens to any more is removed.
  void ring(const GroupId& ticket) const;

  // Removes what killed listeners left behind, rung or not.
  void clear() const;

 private:
  class Kept;
  class PipeBell;

  std::string folder_;
  std::shared_ptr<Kept> kept_;
};

}  // namespace leasehold::sqlite
