// One store, and a lease manager for each workspace and profile that somebody asked for.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/options.h"
#include "env/proc_liveness.h"
#include "env/system_random.h"
#include "manager/lease_manager.h"
#include "open/shared_store.h"
#include "wire/moment.h"
#include "workspace/pairs.h"
#include "workspace/workspace.h"

namespace leasehold::daemon {

// Thread-safe.
class Services {
 public:
  // Errors: those of open_workspace().
  static Result<std::unique_ptr<Services>> open(const ServeOptions& options, LogSink log);

  Store& store() { return *shared_->store; }
  LivenessProbe& liveness() { return liveness_; }
  Random& random() { return random_; }
  const Machine& machine() const { return shared_->machine; }
  const std::string& store_url() const { return store_url_; }
  const std::string& default_workspace() const { return default_workspace_; }
  const std::vector<std::string>& notes() const { return notes_; }
  bool is_embedded() const { return store_url_.starts_with("sqlite:"); }
  const PairRules& pairs() const { return pairs_; }
  const Workspace& workspace() const { return workspace_; }  // The default one, on this disk.

  // An empty name: the default one. Errors: invalid_argument, limit_exceeded, config_error.
  Result<LeaseManager*> manager(const std::string& workspace, const std::string& profile);
  // All there are, each with the name of its workspace. They stay.
  std::vector<std::pair<std::string, LeaseManager*>> managers();

  // What the store's moments are on people's clocks. Looked up once a second or so by refresh_moment(), which
  // asks the store.
  Moment moment();
  void refresh_moment();

 private:
  Services(ServeOptions options, std::shared_ptr<SharedStore> shared)
      : options_(std::move(options)), shared_(std::move(shared)) {}

  ServeOptions options_;
  std::shared_ptr<SharedStore> shared_;
  ProcLiveness liveness_{shared_->machine};
  SystemRandom random_;
  Workspace workspace_;
  PairRules pairs_;
  std::string store_url_;
  std::string default_workspace_;
  std::vector<std::string> notes_;
  LogSink log_;

  std::mutex mutex_;  // Guards what follows.
  std::map<std::pair<std::string, std::string>, std::unique_ptr<LeaseManager>> managers_;
  Moment moment_{};
};

}  // namespace leasehold::daemon
