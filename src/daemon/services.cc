#include "daemon/services.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "util/utf8.h"

namespace leasehold::daemon {
namespace {

// Enough for every clone of a large company; a caller who makes up names must not fill our memory.
constexpr std::size_t kManagersMax = 10'000;
constexpr std::size_t kDroppedAtOnce = 1'000;
constexpr std::size_t kNameMax = 256;

// Names that nobody knows may come with every request, and to look takes a hundred calls of the kernel.
constexpr std::chrono::seconds kNamesGood{1};

}  // namespace

std::string Services::name_of(const std::string& asked) {
  if (asked.empty()) return default_workspace();
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (served_.other_names && !names_.contains(asked) && now - names_read_ > kNamesGood) {
    names_ = served_.other_names();
    names_read_ = now;
  }
  const auto known = names_.find(asked);
  return known == names_.end() ? asked : known->second;
}

Result<std::shared_ptr<LeaseManager>> Services::manager(const std::string& asked, const std::string& profile,
                                                        std::string_view settings) {
  const std::string& workspace = asked.empty() ? default_workspace() : asked;
  if (workspace.size() > kNameMax || has_control_character(workspace))
    return fail(Code::invalid_argument, "The workspace's name is too long, or has control characters in it.");
  const std::lock_guard lock(mutex_);
  const auto found = find_or_make({workspace, profile});
  if (!found) return fail(found.error());
  const Served& served = (*found)->served;
  if (settings.empty() || served.settings == settings) return served.manager;
  return fail(Code::unavailable,
              fmt::format("This server goes by other settings: {}. Restart it, or open the store without it.",
                          served.settings));
}

void Services::note_taken(const std::string& workspace, const std::string& profile) {
  const std::lock_guard lock(mutex_);
  const auto known = managers_.find({workspace, profile});
  if (known != managers_.end()) known->second.may_hold = true;
}

Result<Services::Known*> Services::find_or_make(const Key& key) {
  auto known = managers_.find(key);
  if (known == managers_.end()) {
    if (managers_.size() >= kManagersMax) make_room();
    if (managers_.size() >= kManagersMax) {
      return fail(
          Code::limit_exceeded,
          "This server serves more workspaces at once than it can. Try again later, or start another.");
    }
    auto made = served_.make_manager(key.first, key.second);
    if (!made) return fail(made.error());
    known = managers_.emplace(key, Known{.served = *std::move(made), .asked = {}}).first;
  }
  known->second.asked = Clock::now();
  return &known->second;
}

// Those that were asked for longest ago go, several at once: looking for them looks at all.
void Services::make_room() {
  std::vector<std::pair<Clock::time_point, Key>> idle;
  for (const auto& [key, known] : managers_) {
    if (known.is_idle() && !known.may_hold && key.first != default_workspace())
      idle.emplace_back(known.asked, key);
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(idle.size(), kDroppedAtOnce));
  std::ranges::partial_sort(idle, idle.begin() + count);
  for (const auto& [asked, key] : std::span(idle).first(static_cast<std::size_t>(count)))
    managers_.erase(key);
}

void Services::retire(const std::string& workspace, Clock::time_point asked_before) {
  if (workspace == default_workspace()) return;
  const std::lock_guard lock(mutex_);
  auto known = managers_.lower_bound({workspace, ""});
  while (known != managers_.end() && known->first.first == workspace) {
    const bool goes = known->second.is_idle() && known->second.asked < asked_before;
    known = goes ? managers_.erase(known) : std::next(known);
  }
}

std::vector<std::pair<std::string, std::weak_ptr<LeaseManager>>> Services::managers() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::weak_ptr<LeaseManager>>> all;
  for (const auto& [key, known] : managers_) all.emplace_back(key.first, known.served.manager);
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
