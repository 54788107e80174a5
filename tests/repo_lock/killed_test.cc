// Killed at every system call on the way into the lock and out of it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstddef>

#include "env/child.h"
#include "repo_lock/lock_place.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Makes link(2) fail, as on file systems that have no hard links.
bool forbid_links() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_linkat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = std::size(steps), .filter = steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum class Killed { on_the_way, not_reached, impossible };

// A process that locks and unlocks, killed at the given stop: system calls stop before and after.
Killed kill_at(int stop, const LockPlace& place, bool with_links) {
  Child child([&] {
    if (!with_links && !forbid_links()) return std::string();
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return std::string();
    raise(SIGSTOP);
    (void)RepoLock{.data_dir = place.data_dir()}.lock(kRepo, "doomed");
    return std::string();
  });
  int status = 0;
  if (waitpid(child.pid(), &status, WUNTRACED) != child.pid() || !WIFSTOPPED(status))
    return Killed::impossible;
  for (int i = 0; i < stop; ++i) {
    if (ptrace(PTRACE_SYSCALL, child.pid(), nullptr, nullptr) != 0) return Killed::impossible;
    if (waitpid(child.pid(), &status, 0) != child.pid()) return Killed::impossible;
    if (!WIFSTOPPED(status)) {
      child.reap();
      return Killed::not_reached;
    }
  }
  child.kill();
  child.reap();
  return Killed::on_the_way;
}

TEST(Killed, AtAnyStepLeavesNoLockOrACompleteOne) {
  const LockPlace place;
  int complete = 0;
  int stop = 0;
  for (;; ++stop) {
    const Killed killed = kill_at(stop, place, true);
    if (killed == Killed::impossible) GTEST_SKIP() << "processes cannot be traced here";
    if (killed == Killed::not_reached) break;

    const auto status = RepoLock{.data_dir = place.data_dir()}.status(kRepo);
    ASSERT_TRUE(status) << stop;
    if (*status) {
      ASSERT_TRUE((*status)->lock.info) << "stop " << stop << " left " << place.text();
      EXPECT_EQ((*status)->lock.info->cmd, "doomed");
      ++complete;
    }
    const auto next = RepoLock{.data_dir = place.data_dir()}.lock(kRepo, "next");
    ASSERT_EQ(outcome(next), "granted") << "stop " << stop << " left " << place.text();
  }
  EXPECT_GT(stop, 20);
  EXPECT_GT(complete, 5);
}

// Where there are no hard links the file is made in place. A killed maker may leave an empty one, which
// cannot be told from one that is being written: it counts as held until it is old.
TEST(Killed, WithoutLinksLeavesNothingThatIsNotTakenOverInTime) {
  const LockPlace place;
  int unreadable = 0;
  int stop = 0;
  for (;; ++stop) {
    const Killed killed = kill_at(stop, place, false);
    if (killed == Killed::impossible) GTEST_SKIP() << "processes cannot be traced here";
    if (killed == Killed::not_reached) break;

    RepoLock lock{.data_dir = place.data_dir()};
    if (is_refused(lock.lock(kRepo))) {
      EXPECT_FALSE((*lock.status(kRepo))->lock.info) << stop;
      ++unreadable;
      lock.now = [] {
        return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()) + 2h + 1s;
      };
    }
    ASSERT_EQ(outcome(lock.lock(kRepo, "next")), "granted") << "stop " << stop << " left " << place.text();
  }
  EXPECT_GT(unreadable, 0);
}

TEST(Killed, WhileHoldingFreesTheLockAtOnce) {
  const LockPlace place;
  const RepoLock lock{.data_dir = place.data_dir()};
  Child holder([&] {
    const auto held = lock.lock(kRepo);
    raise(SIGSTOP);
    return outcome(held);
  });
  int status = 0;
  ASSERT_EQ(waitpid(holder.pid(), &status, WUNTRACED), holder.pid());
  ASSERT_EQ(outcome(lock.lock(kRepo)), "locked") << "stopped is not dead";

  holder.kill();
  holder.wait();

  EXPECT_EQ(outcome(lock.lock(kRepo)), "granted") << "nobody has reaped it yet";
}

}  // namespace
}  // namespace leasehold
