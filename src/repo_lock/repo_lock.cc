#include "leasehold/repo_lock.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "env/boottime_clock.h"
#include "env/machine.h"
#include "env/processes.h"
#include "repo_lock/held.h"
#include "repo_lock/lock_text.h"
#include "repo_lock/pid_check.h"
#include "repo_lock/repo_folder.h"
#include "util/duration_text.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using repo_lock::Found;
using repo_lock::GuardFile;
using repo_lock::RepoFolder;

// Who is inside the guard leaves after some system calls. One that stays is stopped, or the machine is
// overloaded; either way the lock cannot be had at once.
constexpr auto kPatience = 100ms;

// Programs that do not know the guard may put a new lock where we removed a stale one. Each of these lost
// races takes a stale lock; nobody loses so many by chance.
constexpr int kRounds = 3;

constexpr std::size_t kRepoIdBytesMax = 255;  // The longest name a folder can have.

std::optional<std::string_view> problem_with(std::string_view repo_id) {
  if (repo_id.empty()) return "is empty";
  if (repo_id.size() > kRepoIdBytesMax) return "has more than 255 bytes";
  if (repo_id.front() == '.') return "starts with a dot";
  if (repo_id.find_first_of("/\\") != std::string_view::npos) return "contains a slash or backslash";
  if (invalid_utf8_at(repo_id)) return "is not UTF-8";
  if (has_control_character(repo_id)) return "contains a control character";
  return std::nullopt;
}

// The folder of a repository's lock, as an absolute path: the process may change folders while it holds it.
Result<std::string> folder_path(const RepoLock& lock, std::string_view repo_id) {
  if (const auto problem = problem_with(repo_id)) {
    return fail(Code::invalid_argument,
                fmt::format("The repository id {} {}. Name it like a file, for example my.repo.",
                            in_quotes(repo_id), *problem));
  }
  if (lock.data_dir.empty() || lock.data_dir.contains('\0')) {
    return fail(Code::invalid_argument,
                fmt::format("The data folder {} is no path. Name one.", in_quotes(lock.data_dir)));
  }
  if (lock.stale_after <= 0ms) {
    return fail(Code::invalid_argument,
                fmt::format("Locks cannot be stale after {}. Name a longer time, for example 2h.",
                            duration_text(lock.stale_after)));
  }
  std::error_code problem;
  const auto folder = std::filesystem::absolute(lock.data_dir, problem);
  if (problem) {
    return fail(Code::unavailable, fmt::format("Cannot tell where {} is: {}. Name it from the root.",
                                               in_sentence(lock.data_dir), problem.message()));
  }
  return fmt::format("{}/repos/{}", folder.string(), repo_id);
}

WallTime changed_at(const struct stat& status) {
  return WallTime(std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
}

// This process, as its lock file describes it. What cannot be read stays out.
RepoLockInfo this_process(const Machine& machine, std::string_view cmd, WallTime now) {
  return {.pid = ::getpid(),
          .created_at = now,
          .cmd = repo_lock::presentable(cmd),
          .process = own_process(machine)};
}

// One call of lock() or status(): the world as it was when it began.
struct Call {
  const RepoLock& rules;
  std::string_view repo_id;
  WallTime now;
  Machine machine;

  Call(const RepoLock& lock, std::string_view id)
      : rules(lock),
        repo_id(id),
        now(lock.now ? lock.now() : BoottimeClock().wall()),
        machine(read_machine()) {}

  RepoLockStatus judge(const RepoFolder& folder, const Found& found) const;
  Result<std::optional<RepoLockStatus>> look(const RepoFolder& folder) const;
  Locked unseen(const RepoFolder& folder, std::string evidence) const {
    return {.repo_id = std::string(repo_id),
            .path = folder.lock_path(),
            .verdict = {Liveness::unknown, std::move(evidence)}};
  }
};

RepoLockStatus Call::judge(const RepoFolder& folder, const Found& found) const {
  const WallTime changed = changed_at(found.status);
  Locked lock = unseen(folder, "its file cannot be read");
  const Process here{
      .machine_id = machine.machine_id, .boot_id = machine.boot_id, .pid_namespace = machine.pid_namespace};
  if (found.text) lock.info = repo_lock::parse_lock_text(*found.text, changed, now, here);
  if (lock.info && lock.info->pid == 0) {
    lock.verdict.evidence = "its file names no pid";
  } else if (lock.info) {
    lock.verdict = rules.is_pid_alive ? rules.is_pid_alive(*lock.info) : repo_lock::check_pid(*lock.info);
  }
  const auto age = now - (lock.info ? lock.info->created_at : changed);
  lock.age = std::max(std::chrono::duration_cast<Duration>(age), 0ms);
  const bool is_stale = lock.verdict.liveness == Liveness::dead || age > rules.stale_after;
  return {.lock = std::move(lock), .is_stale = is_stale};
}

Result<std::optional<RepoLockStatus>> Call::look(const RepoFolder& folder) const {
  const auto found = folder.look();
  if (!found) return fail(found.error());
  if (!*found) return std::nullopt;
  return judge(folder, **found);
}

struct Taken {
  Descriptor file;
  std::uint64_t generation = 0;
};

// Takes the lock, unless somebody has it. Goes round again only after it removed a stale one.
Result<std::variant<Taken, Locked>> take(const Call& call, const RepoFolder& folder, GuardFile& guard,
                                         std::string_view text) {
  for (int round = 0; round < kRounds; ++round) {
    auto found = call.look(folder);
    if (!found) return fail(std::move(found).error());
    if (*found && !(*found)->is_stale) return std::move((*found)->lock);

    const auto generation = folder.next_generation(guard);
    if (!generation) return fail(generation.error());
    auto file = folder.create(text, found->has_value());
    if (!file) return fail(std::move(file).error());
    if (*file) return Taken{*std::move(*file), *generation};
    if (!*found) break;
  }
  return call.unseen(folder, "a program that ignores the guard file was quicker");
}

}  // namespace

Result<RepoLockAnswer> RepoLock::lock(std::string_view repo_id, std::string_view cmd) const {
  const auto path = folder_path(*this, repo_id);
  if (!path) return fail(path.error());
  const auto folder = RepoFolder::open_or_make(*path);
  if (!folder) return fail(folder.error());
  const Call call(*this, repo_id);

  // Most refusals need no guard: that a lock is held can be seen from outside.
  auto found = call.look(*folder);
  if (!found) return fail(std::move(found).error());
  if (*found && !(*found)->is_stale) return std::move((*found)->lock);

  auto guard = folder->enter(kPatience);
  if (!guard) return fail(guard.error());
  if (!*guard) return call.unseen(*folder, "another process is deciding about it");
  const std::string text = repo_lock::lock_text(this_process(call.machine, cmd, call.now));
  auto taken = take(call, *folder, **guard, text);
  if (!taken) return fail(std::move(taken).error());
  if (auto* locked = std::get_if<Locked>(&*taken)) return std::move(*locked);
  auto& [file, generation] = std::get<Taken>(*taken);
  return RepoLockGuard(std::make_unique<RepoLockGuard::Held>(*path, std::move(file), generation));
}

Result<std::optional<RepoLockStatus>> RepoLock::status(std::string_view repo_id) const {
  const auto path = folder_path(*this, repo_id);
  if (!path) return fail(path.error());
  const auto folder = RepoFolder::open(*path);
  if (!folder) return fail(folder.error());
  if (!*folder) return std::nullopt;
  return Call(*this, repo_id).look(**folder);
}

std::string describe(const Locked& locked) {
  std::string holder = "somebody";
  std::string doing;
  if (locked.info) {
    if (locked.info->pid != 0) holder = fmt::format("pid {}", locked.info->pid);
    if (!locked.info->cmd.empty()) doing = fmt::format(", command {}", in_quotes(locked.info->cmd));
  }
  const auto age = std::chrono::floor<std::chrono::seconds>(locked.age);
  return fmt::format("The repository {} is locked by {} for {}{} ({}: {}); its lock file is {}.",
                     in_sentence(locked.repo_id), holder, duration_text(age), doing,
                     word(locked.verdict.liveness), locked.verdict.evidence, in_sentence(locked.path));
}

}  // namespace leasehold
