// A lease manager on a memory store that can be made unreachable, and on a clock that is moved by hand.
#pragma once

#include <chrono>
#include <memory>

#include "leasehold/calls.h"
#include "leasehold/result.h"

namespace leasehold {

class ManagerWorld {
 public:
  virtual ~ManagerWorld() = default;

  virtual void advance(std::chrono::microseconds by) = 0;
  virtual void be_unavailable(bool unavailable) = 0;
  virtual std::size_t renewals_in_history() = 0;

  virtual Result<AcquireAnswer> acquire(const AcquireRequest& request) = 0;
  virtual Result<Outcomes> renew(const RenewRequest& request) = 0;
  virtual Result<Outcomes> release(const ReleaseRequest& request) = 0;
  virtual Result<Outcomes> transfer(const TransferRequest& request) = 0;
  virtual Result<Outcomes> force_release(const ForceReleaseRequest& request) = 0;
  virtual Result<Lease> lease(const LeaseId& id) = 0;
};

std::shared_ptr<ManagerWorld> make_manager_world();

}  // namespace leasehold
