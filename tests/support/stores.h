// The stores that tests run on.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "store/clock.h"
#include "store/store.h"

namespace leasehold {

// A place for the data of one store: empty when it is made, gone when it is destroyed.
class StoreSite {
 public:
  virtual ~StoreSite() = default;

  // Another handle on the same data, such as another process would have. The site outlives it.
  virtual std::unique_ptr<Store> open() = 0;
};

struct StoreFactory {
  std::string name;     // Part of test names: letters and digits.
  std::string missing;  // Why this store cannot run here; empty if it can. Tests on it are skipped.
  // Makes a fresh site whose time is `clock`'s, which outlives it. Ends the process if it cannot.
  std::function<std::unique_ptr<StoreSite>(const StoreClock& clock)> make;
};

inline void PrintTo(const StoreFactory& factory, std::ostream* out) { *out << factory.name; }

// One line for each backend.
std::vector<StoreFactory> available_stores();

}  // namespace leasehold
