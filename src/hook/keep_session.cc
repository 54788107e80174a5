// The keeper of a session, as a process.
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <map>

#include "client/named_leases.h"
#include "env/proc_liveness.h"
#include "env/system_random.h"
#include "hook/session_keeper.h"
#include "keeper/pace.h"
#include "util/descriptor.h"
#include "util/duration_text.h"
#include "util/number.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// How soon a session is looked at again that has nothing to be kept now: its turn may begin again, or what it
// has end.
constexpr Duration kIdlePause = 30s;
constexpr Duration kShortestPause = 20ms;

class SessionKeeper {
 public:
  SessionKeeper(OpenWorkspace& workspace, std::string session_id)
      : client_(workspace.client()),
        session_id_(std::move(session_id)),
        silence_max_(silence_of(workspace)) {}

  // Until the session has nothing, its agent is gone, or its hooks say that it is over.
  void run(const Descriptor& agent) {
    const Descriptor changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    for (;;) {
      ::inotify_add_watch(changes.number(), "/proc/self/fd/3", IN_ATTRIB);  // It may be another one by now.
      const Duration pause = look();
      if (holds_nothing_) {
        if (goes_on()) continue;
        return;
      }
      if (!wait(agent, changes, pause)) return;
    }
  }

 private:
  static Duration silence_of(OpenWorkspace& workspace) {
    const auto settings = workspace.settings();
    if (settings) {
      for (const EffectiveSetting& setting : *settings) {
        if (setting.name != "silence_max") continue;
        if (const auto value = parse_duration(setting.value)) return *value;
      }
    }
    return 30min;
  }

  // A name of its own: what its agents are to be told is not taken along.
  Caller caller() const {
    return {.holder = {.owner = {"lease-keeper", session_id_}}, .whole_session = true};
  }

  // Its hooks touch the file whenever it writes, or is asked to go on.
  bool is_silent() const {
    struct stat found{};
    timespec now{};
    if (::fstat(kKeeperFile, &found) != 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0) return true;
    return std::chrono::seconds(now.tv_sec - found.st_mtim.tv_sec) >= silence_max_;
  }

  // Renews what is due. Returns how long there is nothing to do.
  Duration look() {
    const auto board = client_->board({.session_id = session_id_});
    if (!board) return missed();
    std::vector<Lease> held;
    for (const BoardRow& row : board->rows) {
      if (row.live && row.lease.status == Status::active) held.push_back(row.lease);
    }
    holds_nothing_ = held.empty();
    std::vector<Lease> kept;
    Duration left = Duration::max();
    shortest_ = Duration::max();
    for (const Lease& lease : held) {
      // What nobody attends ends with its time, as everywhere; so does what is idle or asked back.
      if (!lease.attended || lease.idle_at || lease.recalled_at || lease.expires_at == kForever) continue;
      kept.push_back(lease);
      shortest_ = std::min(shortest_, lease.ttl);
      left = std::min(
          left, std::chrono::duration_cast<Duration>(lease.expires_at - board->now) - lease.ttl * 3 / 5);
    }
    keeps_something_ = !kept.empty() && !is_silent();
    misses_ = 0;
    if (!keeps_something_) return kIdlePause;
    if (left > kShortestPause) return left;
    if (!renew(kept, kept.size() == held.size())) return missed();
    return std::chrono::duration_cast<Duration>(renew_after(shortest_, random_));
  }

  // One line of history for all, where all are kept. A server may know the agent by its credential: then it
  // is renewed for in its own name.
  bool renew(const std::vector<Lease>& kept, bool are_all) {
    Selection which;
    std::map<Owner, Selection> by_owner;
    for (const Lease& lease : kept) {
      which.ids.push_back(lease.id);
      by_owner[lease.holder.owner].ids.push_back(lease.id);
    }
    if (are_all) which = {.all = true};
    const auto renewed = renew_named(*client_, {.caller = caller(), .which = std::move(which)});
    if (renewed || renewed.error().code != Code::not_owner) return renewed.has_value();
    return std::ranges::all_of(by_owner, [&](const auto& its) {
      return renew_named(*client_, {.caller = {.holder = {.owner = its.first}}, .which = its.second})
          .has_value();
    });
  }

  Duration missed() {
    const Duration ttl = shortest_ == Duration::max() ? Duration(5min) : shortest_;
    return std::chrono::duration_cast<Duration>(retry_after(ttl, ++misses_, random_));
  }

  // A hook that finds no mark from now on starts another keeper. One that was granted something before may
  // have found this one: what it got is seen by looking again.
  bool goes_on() {
    const std::string mark = mark_path();
    if (!is_marked()) return false;
    ::unlink(mark.c_str());
    look();
    if (holds_nothing_) return false;
    const Descriptor again(::open(mark.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    return again.is_open() && ::flock(again.number(), LOCK_EX | LOCK_NB) == 0 &&
           ::dup3(again.number(), kKeeperFile, O_CLOEXEC) >= 0;
  }

  // False: it is over.
  bool wait(const Descriptor& agent, const Descriptor& changes, Duration pause) {
    const auto until = std::chrono::steady_clock::now() + std::max(pause, kShortestPause);
    for (;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (left.count() <= 0) return true;
      pollfd watched[] = {{agent.number(), POLLIN, 0}, {changes.number(), POLLIN, 0}};
      ::poll(watched, 2, static_cast<int>(std::min<std::int64_t>(left.count(), 3'600'000)));
      if (watched[0].revents != 0) {
        // Nobody else does, when its agent ended without a word.
        ::unlink(mark_path().c_str());
        return false;
      }
      if (!is_marked()) return false;
      if (watched[1].revents == 0) continue;
      char events[4096];
      while (::read(changes.number(), events, sizeof events) > 0) {
      }
      // It is at work again.
      if (!keeps_something_) return true;
    }
  }

  // Its hooks remove the mark when the session ends.
  static bool is_marked() {
    struct stat mark{};
    return ::fstat(kKeeperFile, &mark) == 0 && mark.st_nlink > 0;
  }

  static std::string mark_path() {
    char path[PATH_MAX] = {};
    return ::readlink("/proc/self/fd/3", path, sizeof path - 1) > 0 ? path : "";
  }

  const std::shared_ptr<Client> client_;
  const std::string session_id_;
  const Duration silence_max_;
  SystemRandom random_;
  Duration shortest_ = Duration::max();
  std::size_t misses_ = 0;
  bool holds_nothing_ = false;
  bool keeps_something_ = false;
};

}  // namespace

Result<void> keep_session(const std::vector<std::string>& operands, const OpenOptions& options) {
  const bool is_whole = operands.size() == 4;
  const auto pid = parse_number<pid_t>(is_whole ? operands[2] : "");
  const auto start_time = parse_number<std::uint64_t>(is_whole ? operands[3] : "");
  struct stat mark{};
  if (!pid || !start_time || ::fstat(kKeeperFile, &mark) != 0 || !S_ISREG(mark.st_mode)) {
    return fail(Code::invalid_argument, "This is started by lease hook alone, with a locked file.");
  }
  ::fcntl(kKeeperFile, F_SETFD, FD_CLOEXEC);
  const Machine machine = read_machine();
  const auto process = process_with_pid(machine, *pid);
  if (!process || process->start_time != *start_time) return {};  // It has ended.
  const auto agent = ProcLiveness(machine).watch(*process);
  if (!agent) return {};
  OpenOptions at_place = options;
  at_place.place = operands[0];
  at_place.create = false;
  const auto opened = open_workspace(at_place);
  if (!opened) return fail(opened.error());
  SessionKeeper(**opened, operands[1]).run(*agent);
  return {};
}

}  // namespace leasehold
