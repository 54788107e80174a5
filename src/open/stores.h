// The stores there are, by the scheme of their URL. The only place that knows every backend.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "env/machine.h"
#include "leasehold/result.h"
#include "store/clock.h"
#include "store/store.h"
#include "workspace/workspace.h"

namespace leasehold {

struct StorePlace {
  const Machine& machine;
  const StoreClock& clock;  // Outlives the store.
  bool create = true;
  bool is_brief = false;
  bool durable = false;             // What was answered outlives a power cut.
  std::vector<std::string>& notes;  // For what people should know about it.
};

struct StoreScheme {
  std::string_view scheme;         // Up to the colon.
  std::string_view form;           // How such a URL looks, for messages.
  WorkspaceScope scope;            // Which trees share their leases, unless the project says so.
  bool may_be_empty_path = false;  // Whether nothing may follow the colon.
  // Null: it is no store, but a server that has one.
  Result<std::unique_ptr<Store>> (*open)(const std::string& url, const StorePlace& site);
};

// Error: config_error, listing what there is.
Result<const StoreScheme*> store_scheme(std::string_view url);

// The folder of an embedded store; empty for any other.
std::string embedded_folder(std::string_view url);

// Errors: those of the store; not_found (nothing is there, and it may not be made).
Result<std::unique_ptr<Store>> open_store(const std::string& url, const StorePlace& site);

}  // namespace leasehold
