#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "env/caller_process.h"
#include "env/machine.h"
#include "env/proc_liveness.h"
#include "env/processes.h"
#include "env/system_random.h"
#include "http_client/http_client.h"
#include "leasehold/open.h"
#include "manager/lease_manager.h"
#include "open/credentials.h"
#include "open/open_found.h"
#include "open/preferring_client.h"
#include "open/read_configuration.h"
#include "open/served_socket.h"
#include "open/shared_store.h"
#include "open/stores.h"
#include "util/check.h"
#include "util/percent.h"
#include "util/variables.h"
#include "workspace/disk_pairs.h"
#include "workspace/pair_config.h"
#include "workspace/path_intake.h"

namespace leasehold {
namespace {

// A manager and all that it works with, in the order they depend on each other.
struct Service {
  explicit Service(std::shared_ptr<SharedStore> its_store) : shared(std::move(its_store)) {}

  std::shared_ptr<SharedStore> shared;
  ProcLiveness liveness{shared->machine};
  SystemRandom random;
  std::optional<LeaseManager> manager;
};

// The manager is kept alive with all it needs.
std::shared_ptr<Client> client_of(const std::shared_ptr<Service>& service) {
  return {service, &*service->manager};
}

// Opens the store when it is needed. Thread-safe.
class ServiceOpener {
 public:
  struct How {
    std::string asked_url;
    std::string url;
    StoreUse use;
    std::string workspace;
    std::shared_ptr<Configuration> configuration;
    LogSink log;
  };
  explicit ServiceOpener(How how) : how_(std::move(how)) {}

  Result<std::shared_ptr<Service>> open() {
    const std::lock_guard lock(mutex_);
    if (service_) return service_;
    auto shared = share();
    if (!shared) return fail(shared.error());
    auto service = std::make_shared<Service>(std::move(*shared));
    service->manager.emplace(
        Environment{service->liveness, service->random}, *service->shared->store, how_.workspace,
        how_.configuration->policy_without_store(),
        ManagerOptions{.configuration = how_.configuration,
                       .log = how_.log,
                       .rooms = service->shared->rooms,
                       .own_process = [machine = service->shared->machine] { return own_process(machine); }});
    service_ = std::move(service);
    return service_;
  }

 private:
  // Tries as often as the profile says: a store that is restarted is not there for a moment.
  Result<std::shared_ptr<SharedStore>> share() const {
    const Policy policy = how_.configuration->policy_without_store();
    for (int attempts = 1;; ++attempts) {
      auto shared = share_store(how_.asked_url, how_.url, how_.use);
      if (shared || shared.error().code != Code::unavailable || attempts >= policy.attempts) return shared;
      std::this_thread::sleep_for(policy.attempt_pause);
    }
  }

  const How how_;
  std::mutex mutex_;  // Guards what follows.
  std::shared_ptr<Service> service_;
};

// The rules of a project are read when the workspace is opened, to say at once where they are wrong. The
// built-in ones are right, and made ready when somebody asks: at first those for the files in question, since
// a command asks once; then all of them.
class Pairs {
 public:
  Pairs() = default;
  explicit Pairs(PairRules rules) : all_(std::make_shared<const PairRules>(std::move(rules))) {}

  std::shared_ptr<const PairRules> rules_for(const std::vector<std::string>& files) {
    const std::lock_guard lock(mutex_);
    if (all_) return all_;
    if (!std::exchange(was_asked_, true)) return ready(default_pair_rules_for(files));
    all_ = ready(default_pair_rules());
    return all_;
  }

 private:
  static std::shared_ptr<const PairRules> ready(const std::vector<PairRule>& rules) {
    auto compiled = PairRules::compile(rules);
    LEASEHOLD_CHECK(compiled);
    return std::make_shared<const PairRules>(*std::move(compiled));
  }

  std::mutex mutex_;  // Guards what follows.
  std::shared_ptr<const PairRules> all_;
  bool was_asked_ = false;
};

std::string_view word(WorkspaceScope scope) { return scope == WorkspaceScope::repo ? "repo" : "worktree"; }

// Every setting: also those that say which workspace this is, which nothing but its file can.
std::vector<EffectiveSetting> explain(Configuration& configuration, const Workspace& workspace,
                                      WorkspaceScope scope, std::vector<Setting> stored) {
  const auto source_of = [&](const char* name) {
    const TomlValue* const value = workspace.config.find(name);
    return value == nullptr ? "built-in"
                            : fmt::format("{}:{}", workspace.config_file.value_or(""), value->line);
  };
  std::vector<EffectiveSetting> all = configuration.explain(std::move(stored));
  all.push_back(
      {.name = "workspace",
       .value = workspace.name,
       .source = source_of("workspace"),
       .description =
           "What stores call the workspace; empty: by its origin, or its place; in its own store: here"});
  all.push_back({.name = "scope",
                 .value = std::string(word(workspace.scope.value_or(scope))),
                 .source = source_of("scope"),
                 .description = "What shares leases: each worktree alone, or all of a repo"});
  return all;
}

struct Opened {
  Workspace workspace;
  WorkspaceScope scope{};  // Unless the workspace says which.
  std::string id;
  std::string store_url;
  std::shared_ptr<Configuration> configuration;
  std::shared_ptr<Pairs> pairs = std::make_shared<Pairs>();
  Variables environment;
  Machine machine;
  // One of these two: the store is opened here, at the latest when it is needed; or somebody serves it.
  std::shared_ptr<ServiceOpener> service;
  std::shared_ptr<HttpClient> server;
  std::shared_ptr<Client> client;
  std::shared_ptr<const void> url_in_use;
};

class LocalWorkspace final : public OpenWorkspace {
 public:
  explicit LocalWorkspace(Opened opened) : opened_(std::move(opened)) {}

  std::shared_ptr<Client> client() override { return opened_.client; }

  const std::string& root() const override { return opened_.workspace.root; }
  const std::string& id() const override { return opened_.id; }
  const std::string& store_url() const override { return opened_.store_url; }
  const std::string& profile() const override { return opened_.configuration->profile().value; }
  bool is_managed() const override { return opened_.workspace.managed; }
  const std::vector<std::string>& notes() const override { return opened_.workspace.notes; }
  bool gates_reads() const override { return opened_.configuration->policy_without_store().gate_reads; }
  bool gates_stale_reads() const override { return opened_.configuration->is_on("gate_stale_read"); }

  Result<std::string> key(const std::string& path, const PathOptions& options) const override {
    return key_from_os(opened_.workspace, os_path(path, options));
  }
  Result<std::optional<std::string>> key_if_inside(const std::string& path,
                                                   const PathOptions& options) const override {
    return leasehold::key_if_inside(opened_.workspace, os_path(path, options));
  }

  Result<std::vector<WantedPath>> wanted(const std::vector<AskedPath>& paths,
                                         const PathOptions& options) const override {
    std::vector<WantedPath> wanted;
    std::vector<std::string> files;  // A directory as a whole has its tests in it, or none of its own.
    for (const AskedPath& asked : paths) {
      OsPath path = os_path(asked.path, options);
      path.subtree = asked.subtree;
      auto key = key_from_os(opened_.workspace, path);
      if (!key) return fail(key.error());
      if (!asked.subtree) files.push_back(*key);
      wanted.push_back({.path = std::move(*key), .subtree = asked.subtree});
    }
    if (options.pairs)
      add_pairs(wanted, pairs_on_disk(opened_.workspace, *opened_.pairs->rules_for(files), files));
    return wanted;
  }

  std::optional<Process> caller_process() const override {
    const auto none = [](const char*) -> const char* { return nullptr; };
    return leasehold::caller_process(opened_.machine,
                                     opened_.environment ? opened_.environment : Variables(none));
  }
  std::optional<Process> own_process() const override { return leasehold::own_process(opened_.machine); }

  Result<std::vector<EffectiveSetting>> settings() const override {
    auto stored = opened_.client->settings();
    if (!stored) return fail(stored.error());
    return explain(*opened_.configuration, opened_.workspace, opened_.scope, std::move(*stored));
  }
  Result<Setting> setting(const std::string& name, const std::string& value,
                          const std::string& profile) const override {
    return stored_setting(name, value, profile);
  }

  Result<std::vector<Defect>> examine_store(bool repair) override {
    if (opened_.server) return opened_.server->examine(repair);
    const auto service = opened_.service->open();
    if (!service) return fail(service.error());
    return (*service)->shared->store->examine(opened_.id, repair);
  }

  void set_room_busy(const std::string& room, bool busy) override {
    if (opened_.server) {
      std::ignore = opened_.server->set_room_busy(room, busy);
    } else {
      if (const auto service = opened_.service->open()) (*service)->manager->rooms().set_busy(room, busy);
    }
  }

 private:
  OsPath os_path(const std::string& path, const PathOptions& options) const {
    return {.path = path,
            .cwd = options.cwd.empty() ? opened_.workspace.root : options.cwd,
            .literal = options.literal};
  }

  Opened opened_;
};

// Somebody serves the store. The server is asked at the first call, so that what needs none works without.
Result<std::unique_ptr<OpenWorkspace>> open_server(Opened opened, const OpenOptions& options,
                                                   std::string url) {
  auto in_use = use_url(url);
  if (!in_use) return fail(in_use.error());
  opened.url_in_use = *std::move(in_use);
  opened.machine = read_machine();
  opened.id = workspace_id_in(served_folder(url), opened.workspace,
                              opened.workspace.scope.value_or(opened.scope), opened.machine.machine_id);
  const std::string file = opened.workspace.config_file.value_or("");
  const bool is_projects = !file.empty() && opened.configuration->store_url().source.starts_with(file + ":");
  auto token = is_projects ? credential_for(options.environment, url, file) : credential(options.environment);
  if (!token) return fail(token.error());
  auto left = opened.configuration->leave_to_server();
  if (!left) return fail(left.error());
  std::ranges::move(*left, std::back_inserter(opened.workspace.notes));
  const auto said = [&]<class Value>(const char* name, std::optional<Value>& value) {
    if (const auto found = opened.configuration->said(name)) value = static_cast<Value>(*found);
  };
  std::optional<Duration> ttl;
  std::optional<Duration> wait_max;
  std::optional<int> max_renewals;
  said("ttl", ttl);
  said("wait_max", wait_max);
  said("max_renewals", max_renewals);
  if (wait_max == Duration::zero()) wait_max.reset();  // As long as a request says.
  const auto profile = opened.configuration->profile();
  auto client = open_http_client(url, {.workspace = opened.id,
                                       .profile = profile.source == "built-in" ? "" : profile.value,
                                       .token = *std::move(token),
                                       .ttl = ttl,
                                       .max_renewals = max_renewals,
                                       .wait_max = wait_max,
                                       .is_agent_guessed = options.is_agent_guessed});
  if (!client) return fail(client.error());
  opened.server = *std::move(client);
  opened.client = opened.server;
  opened.store_url = std::move(url);
  return std::make_unique<LocalWorkspace>(std::move(opened));
}

// Longer than a server that is at work takes, and short enough to open the store instead.
constexpr Duration kServerPatience = std::chrono::milliseconds(500);

// Asks whoever serves the embedded store, and opens it if need be. Nothing: nobody serves it.
std::shared_ptr<Client> served(const std::string& url, const Opened& opened) {
  const std::string socket = own_served_socket(url);
  if (socket.empty()) return nullptr;
  const auto profile = opened.configuration->profile();
  auto server = open_http_client("http+unix:" + percent_encoded(socket, '?'),
                                 {.workspace = opened.id,
                                  .profile = profile.source == "built-in" ? "" : profile.value,
                                  .token = {},
                                  .settings = opened.configuration->fingerprint(),
                                  .patience = kServerPatience});
  if (!server) return nullptr;
  return prefer_server(*std::move(server), [opener = opened.service]() -> Result<std::shared_ptr<Client>> {
    const auto service = opener->open();
    if (!service) return fail(service.error());
    return client_of(*service);
  });
}

}  // namespace

bool lets_unchecked_writes_pass(const OpenOptions& options) {
  return lets_unchecked_writes_pass(options, find_workspace(options.place).value_or(Workspace{}));
}

bool lets_unchecked_writes_pass(const OpenOptions& options, const Workspace& workspace) {
  auto configuration = read_configuration(options, workspace);
  // A project whose settings cannot be read leaves those of the environment and the user.
  if (!configuration) configuration = read_configuration(options, Workspace{});
  return configuration && (*configuration)->policy_without_store().gate_fail_open;
}

Result<std::vector<EffectiveSetting>> settings_without_store(const OpenOptions& options) {
  const auto workspace = find_workspace(options.place);
  if (!workspace) return fail(workspace.error());
  const auto configuration = read_configuration(options, *workspace);
  if (!configuration) return fail(configuration.error());
  const auto url = complete_url(options, *workspace, (*configuration)->store_url().value);
  if (!url) return fail(url.error());
  const auto scheme = store_scheme(*url);
  if (!scheme) return fail(scheme.error());
  if ((*scheme)->open == nullptr) {
    if (const auto left = (*configuration)->leave_to_server(); !left) return fail(left.error());
  }
  return explain(**configuration, *workspace, (*scheme)->scope, {});
}

Result<std::unique_ptr<OpenWorkspace>> open_workspace(const OpenOptions& options) {
  if (options.place.empty()) return open_workspace(options, Workspace{});
  auto workspace = find_workspace(options.place);
  if (!workspace) return fail(workspace.error());
  return open_workspace(options, std::move(*workspace));
}

Result<std::unique_ptr<OpenWorkspace>> open_workspace(const OpenOptions& options, Workspace workspace) {
  Opened opened = {.workspace = std::move(workspace), .environment = options.environment};
  if (options.only_managed && !opened.workspace.managed) {
    return fail(Code::not_found, fmt::format("{} is not managed: there is neither a .leasehold.toml nor a "
                                             "store. To begin: lease init",
                                             options.place));
  }
  auto configuration = read_configuration(options, opened.workspace);
  if (!configuration) return fail(configuration.error());
  opened.configuration = std::move(*configuration);
  for (std::string& note :
       unknown_settings(opened.workspace.config_file.value_or(""), opened.workspace.config))
    opened.workspace.notes.push_back(std::move(note));
  if (opened.workspace.config.find("pairs") != nullptr) {
    auto pairs = pair_rules(opened.workspace.config, opened.workspace.config_file.value_or(""));
    if (!pairs) return fail(pairs.error());
    opened.pairs = std::make_shared<Pairs>(*std::move(pairs));
  }

  // Embedded stores of several workspaces are one URL: the one that says nothing.
  const std::string& asked_url = opened.configuration->store_url().value;
  auto url = complete_url(options, opened.workspace, asked_url);
  if (!url) return fail(url.error());
  const auto scheme = store_scheme(*url);
  if (!scheme) return fail(scheme.error());
  opened.scope = (*scheme)->scope;
  if ((*scheme)->open == nullptr) return open_server(std::move(opened), options, *std::move(url));
  opened.machine = read_machine();
  opened.id = workspace_id_in(embedded_folder(*url), opened.workspace,
                              opened.workspace.scope.value_or(opened.scope), opened.machine.machine_id);
  opened.service = std::make_shared<ServiceOpener>(ServiceOpener::How{
      .asked_url = asked_url,
      .url = *url,
      .use = {.create = options.create, .is_brief = options.is_brief, .machine = opened.machine},
      .workspace = opened.id,
      .configuration = opened.configuration,
      .log = options.log});
  opened.store_url = std::move(*url);
  // Lines of the log are written by whoever decides, so with a log nobody else may.
  if (options.prefers_server && !options.log) {
    auto in_use = use_url(asked_url);
    if (!in_use) return fail(in_use.error());
    opened.url_in_use = *std::move(in_use);
    opened.client = served(opened.store_url, opened);
  }
  if (!opened.client) {
    const auto service = opened.service->open();
    if (!service) return fail(service.error());
    for (const std::string& warning : (*service)->shared->warnings) opened.workspace.notes.push_back(warning);
    opened.client = client_of(*service);
  }
  return std::make_unique<LocalWorkspace>(std::move(opened));
}

}  // namespace leasehold
