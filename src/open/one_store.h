#pragma once

#include <memory>
#include <string>

#include "leasehold/result.h"

namespace leasehold {

// One process uses one store URL: who holds a file in one store is nobody in another, and a process that uses
// both would fool itself. Held for as long as something of that URL is open. Thread-safe.
//
// Error: config_error (another one is in use).
Result<std::shared_ptr<const void>> use_store_url(const std::string& url);

}  // namespace leasehold
