#include "cli/run_marks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>

#include "util/descriptor.h"
#include "util/marks_folder.h"

namespace leasehold {
namespace {

// Removes the marks that killed processes left. One that was just made may not be locked yet.
void remove_leftovers(const std::string& folder) {
  constexpr auto kOld = std::chrono::minutes(1);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const auto age = std::filesystem::file_time_type::clock::now() - entry.last_write_time(ignored);
    if (age < kOld || !entry.path().filename().string().starts_with("run-")) continue;
    const Descriptor mark(::open(entry.path().c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (mark.is_open() && ::flock(mark.number(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
  }
}

// Both kinds of lock know nothing of each other. By the first the last one knows that it is; the other tells
// a stand-in, which waits for it and must not be in the way of that.
bool join_in(int mark) {
  struct flock all = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
  return ::flock(mark, LOCK_SH | LOCK_NB) == 0 && ::fcntl(mark, F_OFD_SETLK, &all) == 0;
}

}  // namespace

RunMarks::RunMarks(std::span<const Lease> leases, std::span<const LeaseId> brought) {
  const std::string folder = marks_folder();
  if (!folder.empty()) remove_leftovers(folder);
  for (const Lease& lease : leases) {
    const bool is_new = std::ranges::find(brought, lease.id) != brought.end();
    Mark mark = {.lease = lease.id, .path = fmt::format("{}/run-{}", folder, lease.id.text)};
    if (!folder.empty()) {
      const int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (is_new ? O_CREAT : 0);
      mark.descriptor = ::open(mark.path.c_str(), flags, S_IRUSR | S_IWUSR);
    }
    const std::string line = fmt::format("{}\n", ::getpid());
    const bool is_in = mark.descriptor >= 0 && join_in(mark.descriptor) &&
                       ::write(mark.descriptor, line.data(), line.size()) == std::ssize(line);
    if (!is_in && mark.descriptor >= 0) {
      ::close(mark.descriptor);
      mark.descriptor = -1;
    }
    // Without a file it is given back by who brought it.
    if (is_in || is_new) marks_.push_back(std::move(mark));
  }
}

RunMarks::~RunMarks() {
  for (const Mark& mark : marks_) {
    if (mark.descriptor >= 0) ::close(mark.descriptor);
  }
}

std::vector<LeaseId> RunMarks::take_last() {
  std::vector<LeaseId> last;
  std::erase_if(marks_, [&](const Mark& mark) {
    if (mark.descriptor >= 0) {
      // flock(2) gives up the shared lock first: of two who end at once one is the last.
      if (::flock(mark.descriptor, LOCK_EX | LOCK_NB) != 0) return false;
      ::unlink(mark.path.c_str());
      // A stand-in lives as long as this is open, and the lease with it, which is yet to be given back.
      given_back_.emplace_back(mark.descriptor);
    }
    last.push_back(mark.lease);
    return true;
  });
  return last;
}

std::vector<RunMarks::Other> RunMarks::others() const {
  std::vector<Other> all;
  for (const Mark& mark : marks_) {
    Other other = {.lease = mark.lease, .mark = mark.path, .pids = {}};
    char text[4096] = {};
    const ssize_t size = ::pread(mark.descriptor, text, sizeof text, 0);
    for (const char* at = text; at < text + size;) {
      pid_t pid = 0;
      const auto read = std::from_chars(at, text + size, pid);
      if (read.ec != std::errc()) break;
      if (pid != ::getpid()) other.pids.push_back(pid);
      at = read.ptr + 1;
    }
    all.push_back(std::move(other));
  }
  return all;
}

}  // namespace leasehold
