#include "support/stores.h"

#include "store/memory/memory_store.h"
#include "support/forwarding_store.h"

namespace leasehold {
namespace {

// The data of a memory store lives in the one store, so every handle leads there.
class MemorySite final : public StoreSite {
 public:
  explicit MemorySite(const StoreClock& clock) : store_(open_memory_store(clock)) {}

  std::unique_ptr<Store> open() override { return std::make_unique<ForwardingStore>(*store_); }

 private:
  std::unique_ptr<Store> store_;
};

template <class Site>
std::unique_ptr<StoreSite> make(const StoreClock& clock) {
  return std::make_unique<Site>(clock);
}

}  // namespace

std::vector<StoreFactory> available_stores() {
  return {
      {.name = "memory", .missing = "", .make = make<MemorySite>},
  };
}

}  // namespace leasehold
