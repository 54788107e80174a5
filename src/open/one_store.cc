#include "open/one_store.h"

#include <mutex>

namespace leasehold {

Result<std::shared_ptr<const void>> use_store_url(const std::string& url) {
  static std::mutex mutex;
  static std::weak_ptr<const std::string> in_use;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const std::string> current = in_use.lock();
  if (current && *current != url) {
    // The URLs are not shown: they may have passwords in them.
    return fail(
        Code::config_error,
        "This process has a workspace open on another store, and one process uses one store. Close that "
        "first, or start another process.");
  }
  if (!current) {
    current = std::make_shared<const std::string>(url);
    in_use = current;
  }
  return current;
}

}  // namespace leasehold
