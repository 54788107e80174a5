// Disks that are full, read-only or somebody else's.
#include <fcntl.h>
#include <sys/mount.h>

#include "env/child.h"
#include "repo_lock/lock_place.h"
#include "support/private_mounts.h"

namespace leasehold {
namespace {

// What a child says that has a small disk of its own under the data folder.
std::string on_small_disk(const LockPlace& place, const std::function<std::string()>& work) {
  const Child child([&] {
    if (!enter_private_mounts()) return refusal("mounts");
    if (mount("none", place.data_dir().c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0)
      return refusal("tmpfs");
    return work();
  });
  return child.answer();
}

void fill(const LockPlace& place) {
  const int file =
      open((place.data_dir() + "/filler").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string page(4096, 'x');
  while (write(file, page.data(), page.size()) > 0) {
  }
  close(file);
}

TEST(RepoLockDisk, AFullOneGrantsNothingAndLeavesNothing) {
  const LockPlace place;
  const std::string answer = on_small_disk(place, [&] {
    fill(place);
    const auto refused = place.lock().lock(kRepo);
    std::string text = outcome(refused) + (place.has_lock() ? ", left\n" : "\n");
    if (!refused) text += refused.error().message + "\n";
    std::filesystem::remove(place.data_dir() + "/filler");
    return text + outcome(place.lock().lock(kRepo));
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, "unavailable\nCannot write " + place.folder() +
                        "/.lock.guard: No space left on device. Check who owns the folders around it, their "
                        "modes, and the space left.\ngranted");
}

// The guard has its space already; what does not fit is the lock file itself.
TEST(RepoLockDisk, ALockThatDoesNotFitIsNotHalfWritten) {
  const LockPlace place;
  const std::string answer = on_small_disk(place, [&] {
    (void)place.lock().lock(kRepo);
    fill(place);
    const auto refused = place.lock().lock(kRepo);
    std::string text = outcome(refused);
    for (const auto& entry : std::filesystem::directory_iterator(place.folder())) {
      text += " " + entry.path().filename().string();
    }
    return text;
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, "unavailable .lock.guard");
}

TEST(RepoLockDisk, AFullOneLetsAHolderUnlock) {
  const LockPlace place;
  const std::string answer = on_small_disk(place, [&] {
    auto held = place.lock().lock(kRepo);
    fill(place);
    const std::string unlocked = outcome(std::get<RepoLockGuard>(*held).unlock());
    return unlocked + (place.has_lock() ? ", left" : "");
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer, "done");
}

TEST(RepoLockDisk, AReadOnlyOneIsAnErrorUntilItCanBeWritten) {
  const LockPlace place;
  const std::string answer = on_small_disk(place, [&] {
    auto held = place.lock().lock(kRepo);
    const auto remount = [&](unsigned long flags) {
      return mount("none", place.data_dir().c_str(), "tmpfs", MS_REMOUNT | flags, "size=64k") == 0;
    };
    if (!remount(MS_RDONLY)) return refusal("remount");
    auto& guard = std::get<RepoLockGuard>(*held);
    std::string text = "unlock " + outcome(guard.unlock());
    text += ", check " + outcome(guard.check());
    text += ", other " + outcome(place.lock().lock("other"));
    text += ", same " + outcome(place.lock().lock(kRepo));
    text += ", steal " + outcome(place.lock(Liveness::dead).lock(kRepo));
    text += (*place.lock().status(kRepo)).has_value() ? ", seen" : ", not seen";
    if (!remount(0)) return refusal("remount");
    text += ", unlock " + outcome(guard.unlock());
    return text + (place.has_lock() ? ", left" : "");
  });
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer,
            "unlock unavailable, check done, other unavailable, same locked, steal unavailable, seen, "
            "unlock done");
}

TEST(RepoLockDisk, AFolderThatMayNotBeWrittenIsAnError) {
  const LockPlace place;
  constexpr uid_t kNobody = 65534;
  const bool is_root = geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(chown(place.data_dir().c_str(), kNobody, kNobody), 0);
  }
  const Child child([&] {
    if (is_root && setuid(kNobody) != 0) return refusal("setuid");
    auto held = place.lock().lock(kRepo);
    auto& guard = std::get<RepoLockGuard>(*held);
    chmod(place.folder().c_str(), 0500);
    std::string text = "unlock " + outcome(guard.unlock());
    text += ", steal " + outcome(place.lock(Liveness::dead).lock(kRepo));
    chmod((place.data_dir() + "/repos").c_str(), 0500);
    text += ", other " + outcome(place.lock().lock("other"));
    chmod(place.path().c_str(), 0);
    const auto unreadable = place.lock().lock(kRepo);
    text += ", unreadable " + outcome(unreadable);
    chmod((place.data_dir() + "/repos").c_str(), 0700);
    chmod(place.folder().c_str(), 0700);
    return text + ", unlock " + outcome(guard.unlock());
  });
  const std::string answer = child.answer();
  SKIP_IF_REFUSED(answer);

  EXPECT_EQ(answer,
            "unlock unavailable, steal unavailable, other unavailable, unreadable locked, unlock done");
}

}  // namespace
}  // namespace leasehold
