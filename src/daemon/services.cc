#include "daemon/services.h"

#include <fmt/format.h>

#include "util/utf8.h"

namespace leasehold::daemon {
namespace {

// Enough for every clone of a large company; a caller who makes up names must not fill our memory.
constexpr std::size_t kManagersMax = 10'000;
constexpr std::size_t kNameMax = 256;

}  // namespace

Result<LeaseManager*> Services::manager(const std::string& asked, const std::string& profile,
                                        std::string_view settings) {
  // Over HTTP the whole repository is one workspace, and here it is the tree that this store is opened for
  // without us, too: the same file must not have two owners.
  const std::string repository = default_workspace().substr(0, default_workspace().find('@'));
  const bool is_here = asked.empty() || (is_embedded() && asked == repository);
  const std::string& workspace = is_here ? default_workspace() : asked;
  if (workspace.size() > kNameMax || has_control_character(workspace))
    return fail(Code::invalid_argument, "The workspace's name is too long, or has control characters in it.");
  const std::lock_guard lock(mutex_);
  const auto found = find_or_make(workspace, profile);
  if (!found) return fail(found.error());
  if (settings.empty() || (*found)->settings == settings) return (*found)->manager.get();
  return fail(Code::unavailable,
              fmt::format("This server goes by other settings: {}. Restart it, or open the store without it.",
                          (*found)->settings));
}

Result<Served*> Services::find_or_make(const std::string& workspace, const std::string& profile) {
  const std::pair key(workspace, profile);
  if (const auto known = managers_.find(key); known != managers_.end()) return &known->second;
  if (managers_.size() >= kManagersMax) {
    return fail(Code::limit_exceeded, "This server has more workspaces than it can serve. Start another.");
  }
  auto made = served_.make_manager(workspace, profile);
  if (!made) return fail(made.error());
  return &managers_.emplace(key, *std::move(made)).first->second;
}

std::vector<std::pair<std::string, LeaseManager*>> Services::managers() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, LeaseManager*>> all;
  for (const auto& [key, one] : managers_) all.emplace_back(key.first, one.manager.get());
  return all;
}

Moment Services::moment() {
  const std::lock_guard lock(mutex_);
  return moment_;
}

void Services::refresh_moment() {
  Moment now;
  const auto seen = store().view({.workspace = default_workspace()}, [&](View& view) -> Result<void> {
    now = {view.now(), view.wall()};
    return {};
  });
  const std::lock_guard lock(mutex_);
  if (seen) moment_ = now;
}

}  // namespace leasehold::daemon
