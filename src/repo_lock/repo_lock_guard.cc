#include <fmt/format.h>

#include <tuple>

#include "repo_lock/held.h"
#include "repo_lock/repo_folder.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using repo_lock::RepoFolder;

// Longer than for taking a lock: one that is not given back blocks others.
constexpr auto kPatience = 2s;

Error lost(const std::string& path, std::string_view how) {
  return {Code::lost, fmt::format("The repository lock {} is no longer ours: {}. Check what was written "
                                  "meanwhile, then lock again.",
                                  in_sentence(path), how)};
}

constexpr std::string_view kTakenOver = "somebody took it over";
constexpr std::string_view kRemoved = "its file was removed";

}  // namespace

Result<void> RepoLockGuard::Held::release(std::chrono::milliseconds at_most) const {
  const auto there = RepoFolder::open(folder);
  if (!there) return fail(there.error());
  if (!*there) return {};
  const RepoFolder& repo = **there;
  const auto guard = repo.enter(at_most);
  if (!guard) return fail(guard.error());
  if (!*guard) {
    return fail(Code::unavailable,
                fmt::format("Cannot unlock {}: another process is inside {} and does not leave. If it is "
                            "stopped, continue or end it (fuser shows it), then unlock again.",
                            in_sentence(path()), repo_lock::GuardFile::kName));
  }
  const auto is_ours = repo.has(file);
  if (!is_ours) return fail(is_ours.error());
  if (is_ours->value_or(false)) return repo.remove();
  const bool was_taken = is_ours->has_value() || (*guard)->generation() != generation;
  if (was_taken) return fail(lost(path(), kTakenOver));
  return {};
}

RepoLockGuard::RepoLockGuard(std::unique_ptr<Held> held) : held_(std::move(held)) {}
RepoLockGuard::RepoLockGuard(RepoLockGuard&&) noexcept = default;

RepoLockGuard& RepoLockGuard::operator=(RepoLockGuard&& other) noexcept {
  if (this != &other) {
    std::ignore = unlock();
    held_ = std::move(other.held_);
  }
  return *this;
}

RepoLockGuard::~RepoLockGuard() {
  if (held_) std::ignore = held_->release(held_->was_waited_for ? 0ms : kPatience);
}

Result<void> RepoLockGuard::unlock() {
  if (!held_) return {};
  auto released = held_->release(kPatience);
  held_->was_waited_for = true;
  if (released || released.error().code == Code::lost) held_.reset();
  return released;
}

Result<void> RepoLockGuard::check() const {
  if (!held_) return fail(Code::lost, "This repository lock was given back already. Lock again.");
  const auto folder = RepoFolder::open(held_->folder);
  if (!folder) return fail(folder.error());
  if (!*folder) return fail(lost(held_->path(), kRemoved));
  const auto is_ours = (*folder)->has(held_->file);
  if (!is_ours) return fail(is_ours.error());
  if (is_ours->value_or(false)) return {};
  return fail(lost(held_->path(), is_ours->has_value() ? kTakenOver : kRemoved));
}

}  // namespace leasehold
