#include "keeper/manager_world.h"

#include <algorithm>

#include "support/faulty_store.h"
#include "support/small_world.h"

namespace leasehold {
namespace {

class Reachable final : public ManagerWorld {
 public:
  void advance(std::chrono::microseconds by) override { world_.clock.advance(by); }
  void be_unavailable(bool unavailable) override { store_.be_unavailable(unavailable); }

  std::size_t renewals_in_history() override {
    const auto history = manager_.history({});
    return history ? static_cast<std::size_t>(std::ranges::count(*history, EventType::renewed, &Event::type))
                   : 0;
  }

  Result<AcquireAnswer> acquire(const AcquireRequest& request) override { return manager_.acquire(request); }
  Result<Outcomes> renew(const RenewRequest& request) override { return manager_.renew(request); }
  Result<Outcomes> release(const ReleaseRequest& request) override { return manager_.release(request); }
  Result<Outcomes> transfer(const TransferRequest& request) override { return manager_.transfer(request); }
  Result<Outcomes> force_release(const ForceReleaseRequest& request) override {
    return manager_.force_release(request);
  }

  Result<Lease> lease(const LeaseId& id) override {
    std::optional<Lease> found;
    auto looked = store_.view({.workspace = kWorkspace, .leases = {id}}, [&](View& view) -> Result<void> {
      found = view.lease(id);
      return {};
    });
    if (!looked) return fail(looked.error());
    if (!found) return fail(Code::not_found, "There is no such lease.");
    return *found;
  }

 private:
  SmallWorld world_;
  FaultyStore store_{*world_.store};
  LeaseManager manager_{{world_.probe, world_.random}, store_, kWorkspace, Policy{}};
};

}  // namespace

std::shared_ptr<ManagerWorld> make_manager_world() { return std::make_shared<Reachable>(); }

}  // namespace leasehold
