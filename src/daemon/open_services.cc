// The store that a folder's settings name, served with those settings.
#include <cstdlib>
#include <functional>
#include <map>

#include "daemon/services.h"
#include "engine/policy.h"
#include "env/proc_liveness.h"
#include "env/processes.h"
#include "env/system_random.h"
#include "open/read_configuration.h"
#include "open/shared_store.h"
#include "open/stores.h"
#include "util/variables.h"
#include "workspace/git_files.h"
#include "workspace/pair_config.h"
#include "workspace/store_owner.h"
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

// Over HTTP the whole repository is one workspace, and here it is the tree that an embedded store is opened
// for without us, too; each of its other work trees is the one that it is there. The same file must not have
// two owners.
std::map<std::string, std::string> names_over_http(const std::string& folder, const std::string& own,
                                                   const std::string& machine, const std::string& root) {
  std::map<std::string, std::string> names;
  const auto served = find_workspace(root);
  if (!served) return names;
  for (const WorkspaceScope scope : {WorkspaceScope::repo, WorkspaceScope::worktree}) {
    names.emplace(workspace_id(*served, scope, machine), own);
    names.emplace(workspace_id_in(folder, *served, scope, machine), own);
  }
  if (!served->git_common_dir) return names;
  for (const std::string& other : work_trees_of(*served->git_common_dir)) {
    const auto tree = find_workspace(other);
    if (!tree) continue;
    const std::string its = workspace_id_in(folder, *tree, WorkspaceScope::worktree, machine);
    names.emplace(workspace_id(*tree, WorkspaceScope::worktree, machine), its);
    names.emplace(its, its);
  }
  return names;
}

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
  const WorkspaceScope scope = ground->workspace.scope.value_or((*scheme)->scope);
  const std::string& machine = ground->shared->machine.machine_id;
  const std::string folder = embedded_folder(*url);
  // It may be started anywhere, with the store of a repository that it is not started in.
  const Workspace owner = owner_of_store(folder, ground->workspace).value_or(ground->workspace);
  std::string own = workspace_id_in(folder, owner, scope, machine);
  std::function<std::map<std::string, std::string>()> other_names;
  if (!folder.empty()) {
    other_names = [folder, own, machine, root = owner.root] {
      return names_over_http(folder, own, machine, root);
    };
  }
  return std::make_unique<Services>(ServedStore{
      .store = ground->store,
      .health = ground->health,
      .liveness = ground->liveness,
      .url = *std::move(url),
      .default_workspace = std::move(own),
      .other_names = std::move(other_names),
      .make_manager = [ground](const std::string& name,
                               const std::string& profile) { return ground->make_manager(name, profile); },
      .workspace = ground->workspace,
      .pairs = *std::move(pairs),
      .notes = std::move(notes),
      .grant_pause = ground->grant_pause});
}

}  // namespace leasehold::daemon
