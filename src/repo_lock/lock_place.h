// For tests: a data folder, and a clock and liveness that say what they are told.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "leasehold/repo_lock.h"
#include "support/temp_folder.h"
#include "util/read_file.h"
#include "util/rfc3339.h"
#include "util/wall_now.h"

namespace leasehold {

inline constexpr const char* kRepo = "my.repo";

class LockPlace {
 public:
  const std::string& data_dir() const { return temp_.path(); }
  std::string folder() const { return data_dir() + "/repos/" + kRepo; }
  std::string path() const { return folder() + "/.lock"; }

  // A RepoLock on which time stands still, at the wall's time of its making.
  RepoLock lock(Liveness liveness = Liveness::alive) const {
    return {.data_dir = data_dir(),
            .now = [this] { return now; },
            .is_pid_alive = [liveness](const RepoLockInfo&) { return Verdict{liveness, "told so"}; }};
  }

  // As another program might have left it.
  void write(const std::string& text) const {
    std::filesystem::create_directories(folder());
    std::ofstream(path(), std::ios::binary) << text;
  }
  void write(std::int64_t pid, WallTime created_at) const {
    write(R"({"pid":)" + std::to_string(pid) + R"(,"created_at":")" + to_rfc3339(created_at) + "\"}");
  }
  void set_changed_at(WallTime moment) const {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(moment);
    const timespec time{.tv_sec = seconds.time_since_epoch().count(),
                        .tv_nsec = std::chrono::nanoseconds(moment - seconds).count()};
    const timespec both[] = {time, time};
    EXPECT_EQ(utimensat(AT_FDCWD, path().c_str(), both, AT_SYMLINK_NOFOLLOW), 0);
  }

  bool has_lock() const { return std::filesystem::exists(std::filesystem::symlink_status(path())); }
  std::string text() const { return read_file(path(), 1 << 20).value_or("(none)"); }

  WallTime now = wall_now();

 private:
  TempFolder temp_;
};

inline bool is_granted(const Result<RepoLockAnswer>& answer) {
  return answer && std::holds_alternative<RepoLockGuard>(*answer);
}

inline bool is_refused(const Result<RepoLockAnswer>& answer) {
  return answer && std::holds_alternative<Locked>(*answer);
}

// One word, for expectations that say what they got instead.
inline std::string outcome(const Result<RepoLockAnswer>& answer) {
  if (!answer) return std::string(info(answer.error().code).name);
  return is_granted(answer) ? "granted" : "locked";
}

template <class T>
std::string outcome(const Result<T>& done) {
  return done ? "done" : std::string(info(done.error().code).name);
}

}  // namespace leasehold
