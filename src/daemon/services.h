// One store, and a lease manager for each workspace and profile that somebody asked for.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/board_pages.h"
#include "daemon/options.h"
#include "daemon/write_health.h"
#include "env/liveness.h"
#include "manager/lease_manager.h"
#include "wire/moment.h"
#include "workspace/pairs.h"
#include "workspace/workspace.h"

namespace leasehold::daemon {

// A manager, and the settings it goes by (Configuration::fingerprint()).
struct Served {
  std::unique_ptr<LeaseManager> manager;
  std::string settings;
};

// What is served. All that it refers to outlives it.
struct ServedStore {
  Store& store;
  WriteHealth& health;
  LivenessProbe& liveness;
  std::string url;
  std::string default_workspace;
  // An empty profile: the server's own.
  std::function<Result<Served>(const std::string& workspace, const std::string& profile)> make_manager;
  Workspace workspace = {};  // The default one, on this disk.
  PairRules pairs = {};
  std::vector<std::string> notes = {};  // For people.
};

// Thread-safe.
class Services {
 public:
  // Errors: those of open_workspace().
  static Result<std::unique_ptr<Services>> open(const ServeOptions& options, LogSink log,
                                                WriteHealth::Say say);

  explicit Services(ServedStore served) : served_(std::move(served)) { refresh_moment(); }

  Store& store() { return served_.store; }
  WriteHealth& health() { return served_.health; }
  BoardPages& pages() { return pages_; }
  LivenessProbe& liveness() { return served_.liveness; }
  const std::string& store_url() const { return served_.url; }
  const std::string& default_workspace() const { return served_.default_workspace; }
  const std::vector<std::string>& notes() const { return served_.notes; }
  bool is_embedded() const { return served_.url.starts_with("sqlite:"); }
  const PairRules& pairs() const { return served_.pairs; }
  const Workspace& workspace() const { return served_.workspace; }

  // An empty name: the default one. `settings`, if not empty, is what the caller's own would be: with others
  // it wants no answer, but would rather open the store itself. Errors: invalid_argument, limit_exceeded,
  // config_error; unavailable (other settings).
  Result<LeaseManager*> manager(const std::string& workspace, const std::string& profile,
                                std::string_view settings = {});
  // All there are, each with the name of its workspace. They stay.
  std::vector<std::pair<std::string, LeaseManager*>> managers();

  // What the store's moments are on people's clocks. Looked up once a second or so by refresh_moment(), which
  // asks the store.
  Moment moment();
  void refresh_moment();

 private:
  Result<Served*> find_or_make(const std::string& workspace, const std::string& profile);

  const ServedStore served_;
  BoardPages pages_;
  std::mutex mutex_;  // Guards what follows.
  std::map<std::pair<std::string, std::string>, Served> managers_;
  Moment moment_{};
};

}  // namespace leasehold::daemon
