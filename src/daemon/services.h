// One store, and a lease manager for each workspace and profile that somebody asked for.
#pragma once

#include <atomic>
#include <chrono>
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
#include "open/stores.h"
#include "wire/moment.h"
#include "workspace/pairs.h"
#include "workspace/workspace.h"

namespace leasehold::daemon {

// A manager, and the settings it goes by (Configuration::fingerprint()).
struct Served {
  std::shared_ptr<LeaseManager> manager;
  std::string settings;
};

// Until when nothing is granted. Thread-safe.
class GrantPause {
 public:
  using Clock = std::chrono::steady_clock;
  void last_until(Clock::time_point end) { end_ = end; }
  bool is_on() const { return Clock::now() < end_.load(); }

 private:
  std::atomic<Clock::time_point> end_{Clock::time_point()};
};

// What is served. All that it refers to outlives it.
struct ServedStore {
  Store& store;
  WriteHealth& health;
  LivenessProbe& liveness;
  std::string url;
  std::string default_workspace;
  // What workspaces are called by those who do not open this store themselves, and what the store calls them:
  // as it is now, for an origin may be set and a work tree added. Null: the same.
  std::function<std::map<std::string, std::string>()> other_names = nullptr;
  // An empty profile: the server's own.
  std::function<Result<Served>(const std::string& workspace, const std::string& profile)> make_manager;
  Workspace workspace = {};  // The default one, on this disk.
  PairRules pairs = {};
  std::vector<std::string> notes = {};  // For people.
  // What its managers heed for those who wait.
  std::shared_ptr<GrantPause> grant_pause = std::make_shared<GrantPause>();
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
  // What the store calls the workspace that somebody asks for; empty: the default one.
  std::string name_of(const std::string& asked);
  const std::vector<std::string>& notes() const { return served_.notes; }
  bool is_embedded() const { return !embedded_folder(served_.url).empty(); }
  const PairRules& pairs() const { return served_.pairs; }
  const Workspace& workspace() const { return served_.workspace; }
  GrantPause& grant_pause() { return *served_.grant_pause; }

  // By the store's own name; empty: the default one. `settings`, if not empty, is what the caller's own would
  // be: with others it wants no answer, but would rather open the store itself. Errors: invalid_argument,
  // limit_exceeded, config_error; unavailable (other settings).
  //
  // Whoever uses one keeps it. One that nobody uses may be dropped, and is made again when it is asked for.
  Result<std::shared_ptr<LeaseManager>> manager(const std::string& workspace, const std::string& profile,
                                                std::string_view settings = {});
  // Somebody may have got something there, by the manager that it uses: it is not dropped, for what is held
  // has to be swept.
  void note_taken(const std::string& workspace, const std::string& profile);
  // All there are, each with the name of its workspace, in its order. To be kept only while it is used.
  std::vector<std::pair<std::string, std::weak_ptr<LeaseManager>>> managers();

  using Clock = std::chrono::steady_clock;
  // Drops those of a workspace that nobody uses or has asked for since then; never the default one's.
  void retire(const std::string& workspace, Clock::time_point asked_before);

  // What the store's moments are on people's clocks. Looked up once a second or so by refresh_moment(), which
  // asks the store.
  Moment moment();
  void refresh_moment();

 private:
  using Key = std::pair<std::string, std::string>;  // Workspace and profile.
  struct Known {
    Served served;
    Clock::time_point asked;
    bool may_hold = false;  // Somebody may hold something there.
    bool is_idle() const { return served.manager.use_count() == 1; }
  };

  Result<Known*> find_or_make(const Key& key);
  void make_room();

  const ServedStore served_;
  BoardPages pages_;
  std::mutex mutex_;  // Guards what follows.
  std::map<Key, Known> managers_;
  std::map<std::string, std::string> names_;  // As other_names() said last.
  Clock::time_point names_read_{};
  Moment moment_{};
};

}  // namespace leasehold::daemon
