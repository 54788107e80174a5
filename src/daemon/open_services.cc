// The store that a folder's settings name, served with those settings.
#include <cstdlib>

#include "daemon/services.h"
#include "engine/policy.h"
#include "env/proc_liveness.h"
#include "env/processes.h"
#include "env/system_random.h"
#include "open/read_configuration.h"
#include "open/shared_store.h"
#include "open/stores.h"
#include "util/variables.h"
#include "workspace/pair_config.h"
#include "workspace/workspace.h"

namespace leasehold::daemon {
namespace {

OpenOptions open_options(const ServeOptions& options) {
  return {.place = options.place, .settings = options.settings, .environment = own_variable};
}

// What managers are made of, in the order it depends on each other.
struct Ground {
  Ground(std::shared_ptr<SharedStore> its_store, WriteHealth::Say say)
      : shared(std::move(its_store)), health(std::move(say)) {}

  Result<Served> make_manager(const std::string& name, const std::string& profile) {
    ServeOptions chosen = options;
    if (!profile.empty()) {
      if (const auto known = profile_named(profile); !known) return fail(known.error());
      chosen.settings["profile"] = profile;
    }
    auto configuration = read_configuration(open_options(chosen), workspace);
    if (!configuration) return fail(configuration.error());
    const Policy policy = (*configuration)->policy_without_store();
    std::string settings = (*configuration)->fingerprint();
    auto manager = std::make_shared<LeaseManager>(
        Environment{liveness, random}, store, name, policy,
        ManagerOptions{.configuration = std::move(*configuration),
                       .cleans_up = false,
                       .log = log,
                       .rooms = shared->rooms,
                       .own_process = [machine = shared->machine] { return own_process(machine); },
                       .withholds = [pause = grant_pause] { return pause->is_on(); }});
    return Served{std::move(manager), std::move(settings)};
  }

  std::shared_ptr<SharedStore> shared;
  WriteHealth health;
  WatchedStore store{*shared->store, health};
  ProcLiveness liveness{shared->machine};
  SystemRandom random;
  Workspace workspace;
  ServeOptions options;
  LogSink log;
  std::shared_ptr<GrantPause> grant_pause = std::make_shared<GrantPause>();
};

}  // namespace

Result<std::unique_ptr<Services>> Services::open(const ServeOptions& options, LogSink log,
                                                 WriteHealth::Say say) {
  const OpenOptions how = open_options(options);
  auto workspace = find_workspace(options.place);
  if (!workspace) return fail(workspace.error());
  const auto configuration = read_configuration(how, *workspace);
  if (!configuration) return fail(configuration.error());
  auto pairs = pair_rules(workspace->config, workspace->config_file.value_or(""));
  if (!pairs) return fail(pairs.error());
  const std::string& asked_url = (*configuration)->store_url().value;
  auto url = complete_url(how, *workspace, asked_url);
  if (!url) return fail(url.error());
  const auto scheme = store_scheme(*url);
  if (!scheme) return fail(scheme.error());
  auto shared = share_store(asked_url, *url, {.durable = true});
  if (!shared) return fail(shared.error());

  std::vector<std::string> notes = workspace->notes;
  for (const std::string& warning : (*shared)->warnings) notes.push_back(warning);
  auto ground = std::make_shared<Ground>(*std::move(shared), std::move(say));
  ground->workspace = *std::move(workspace);
  ground->options = options;
  ground->log = std::move(log);
  std::string own = workspace_id(ground->workspace, ground->workspace.scope.value_or((*scheme)->scope),
                                 ground->shared->machine.machine_id);
  return std::make_unique<Services>(ServedStore{
      .store = ground->store,
      .health = ground->health,
      .liveness = ground->liveness,
      .url = *std::move(url),
      .default_workspace = std::move(own),
      .make_manager = [ground](const std::string& name,
                               const std::string& profile) { return ground->make_manager(name, profile); },
      .workspace = ground->workspace,
      .pairs = *std::move(pairs),
      .notes = std::move(notes),
      .grant_pause = ground->grant_pause});
}

}  // namespace leasehold::daemon
