#include "daemon/services.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "engine/policy.h"
#include "env/processes.h"
#include "open/read_configuration.h"
#include "open/stores.h"
#include "util/utf8.h"
#include "workspace/pair_config.h"

namespace leasehold::daemon {
namespace {

// Enough for every clone of a large company; a caller who makes up names must not fill our memory.
constexpr std::size_t kManagersMax = 10'000;
constexpr std::size_t kNameMax = 256;

OpenOptions open_options(const ServeOptions& options) {
  return {.place = options.place,
          .settings = options.settings,
          .environment = [](const char* name) -> const char* { return std::getenv(name); }};
}

}  // namespace

Result<std::unique_ptr<Services>> Services::open(const ServeOptions& options, LogSink log) {
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

  auto services = std::unique_ptr<Services>(new Services(options, *std::move(shared)));
  services->notes_ = workspace->notes;
  for (const std::string& warning : services->shared_->warnings) services->notes_.push_back(warning);
  services->default_workspace_ =
      workspace_id(*workspace, workspace->scope.value_or((*scheme)->scope), services->machine().machine_id);
  services->workspace_ = *std::move(workspace);
  services->pairs_ = *std::move(pairs);
  services->store_url_ = *std::move(url);
  services->log_ = std::move(log);
  services->refresh_moment();
  return services;
}

Result<LeaseManager*> Services::manager(const std::string& asked, const std::string& profile) {
  const std::string& workspace = asked.empty() ? default_workspace_ : asked;
  if (workspace.size() > kNameMax || has_control_character(workspace))
    return fail(Code::invalid_argument, "The workspace's name is too long, or has control characters in it.");
  const std::lock_guard lock(mutex_);
  auto& manager = managers_[{workspace, profile}];
  if (manager) return manager.get();
  const auto give_up = [&](Error error) {
    managers_.erase({workspace, profile});
    return fail(std::move(error));
  };
  if (managers_.size() > kManagersMax)
    return give_up(
        {Code::limit_exceeded, "This server has more workspaces than it can serve. Start another."});
  ServeOptions options = options_;
  if (!profile.empty()) {
    if (const auto known = profile_named(profile); !known) return give_up(known.error());
    options.settings["profile"] = profile;
  }
  auto configuration = read_configuration(open_options(options), workspace_);
  if (!configuration) return give_up(configuration.error());
  const Policy policy = (*configuration)->policy_without_store();
  manager = std::make_unique<LeaseManager>(
      Environment{liveness_, random_}, *shared_->store, workspace, policy,
      ManagerOptions{
          .configuration = std::move(*configuration),
          .cleans_up = false,
          .log = log_,
          .rooms = shared_->rooms,
          .own_process = [machine = shared_->machine] { return process_with_pid(machine, ::getpid()); }});
  return manager.get();
}

std::vector<std::pair<std::string, LeaseManager*>> Services::managers() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, LeaseManager*>> all;
  for (const auto& [key, manager] : managers_) all.emplace_back(key.first, manager.get());
  return all;
}

Moment Services::moment() {
  const std::lock_guard lock(mutex_);
  return moment_;
}

void Services::refresh_moment() {
  Moment now;
  const auto seen = shared_->store->view({.workspace = default_workspace_}, [&](View& view) -> Result<void> {
    now = {view.now(), view.wall()};
    return {};
  });
  const std::lock_guard lock(mutex_);
  if (seen) moment_ = now;
}

}  // namespace leasehold::daemon
