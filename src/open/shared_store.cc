#include "open/shared_store.h"

#include <unistd.h>

#include <map>
#include <mutex>

#include "open/stores.h"

namespace leasehold {
namespace {

// What is open in this process. Guarded by its mutex, which is held while a store is opened: who asks for the
// same one meanwhile waits for that.
struct Registry {
  std::mutex mutex;
  pid_t pid = 0;
  std::weak_ptr<const std::string> url;
  std::map<std::string, std::weak_ptr<SharedStore>> stores;  // By complete URL.
};

Registry& registry() {
  static Registry all;
  return all;
}

Result<std::shared_ptr<const std::string>> use_url(Registry& all, const std::string& url) {
  std::shared_ptr<const std::string> current = all.url.lock();
  if (current && *current != url) {
    // The URLs are not shown: they may have passwords in them.
    return fail(
        Code::config_error,
        "This process has a workspace open on another store, and one process uses one store. Close that "
        "first, or start another process.");
  }
  if (!current) {
    current = std::make_shared<const std::string>(url);
    all.url = current;
  }
  return current;
}

}  // namespace

Result<std::shared_ptr<const void>> use_url(const std::string& asked_url) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  auto in_use = use_url(all, asked_url);
  if (!in_use) return fail(in_use.error());
  return *in_use;
}

Result<std::shared_ptr<SharedStore>> share_store(const std::string& asked_url, const std::string& url,
                                                 const StoreUse& use) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  auto in_use = use_url(all, asked_url);
  if (!in_use) return fail(in_use.error());
  if (all.pid != ::getpid()) {
    all.pid = ::getpid();
    all.stores.clear();  // The parent's are not ours to use.
  }
  if (const auto found = all.stores.find(url); found != all.stores.end()) {
    if (auto open = found->second.lock()) return open;
  }
  auto shared =
      std::make_shared<SharedStore>(use.machine ? *use.machine : read_machine(), std::move(*in_use));
  auto store = open_store(url, {.machine = shared->machine,
                                .clock = shared->clock,
                                .create = use.create,
                                .is_brief = use.is_brief,
                                .durable = use.durable,
                                .notes = shared->warnings});
  if (!store) return fail(store.error());
  shared->store = std::move(*store);
  std::erase_if(all.stores, [](const auto& one) { return one.second.expired(); });
  all.stores[url] = shared;
  return shared;
}

}  // namespace leasehold
