#include "hook/session_keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/machine.h"
#include "hook/pid_namespaces.h"
#include "util/descriptor.h"
#include "util/marks_folder.h"
#include "util/own_program.h"
#include "util/path_text.h"
#include "util/stable_hash.h"

namespace leasehold {
namespace {

// Empty: there is no place for it.
std::string mark_of(const OpenWorkspace& workspace, const std::string& session_id) {
  const std::string folder = marks_folder();
  return folder.empty() ? "" : join(folder, "keeper-" + stable_hash({workspace.id(), session_id}));
}

// In a session of its own, with nothing of ours but the lock: a host waits until nobody has its pipes any
// more, and ends what belongs to its hook.
void start_detached(std::vector<std::string> words, int lock) {
  std::string program = own_program();
  // It may have been replaced since.
  if (::access(program.c_str(), X_OK) != 0) program = "/proc/self/exe";
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child > 0) ::waitpid(child, nullptr, 0);
  if (child != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  const int nothing = ::open("/dev/null", O_RDWR);
  const bool is_ready = nothing >= 0 && ::chdir("/") == 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
                        ::dup2(nothing, STDOUT_FILENO) >= 0 && ::dup2(nothing, STDERR_FILENO) >= 0;
  // dup2(2) of a descriptor to itself would leave it to be closed.
  const int high = ::fcntl(lock, F_DUPFD, kKeeperFile + 1);
  if (!is_ready || high < 0 || ::dup2(high, kKeeperFile) < 0) ::_exit(1);
  ::close_range(kKeeperFile + 1, ~0U, 0);
  ::execv(program.c_str(), arguments.data());
  ::_exit(1);
}

}  // namespace

bool needs_keeper(const OpenWorkspace& workspace, bool granted) {
  const std::string& url = workspace.store_url();
  const std::string scheme = url.substr(0, url.find(':'));
  if (scheme == "memory" || scheme == "http+unix") return false;
  if (scheme != "sqlite") return true;
  if (!granted) return false;
  const std::string folder = url.substr(scheme.size() + 1);
  const Machine machine = read_machine();
  return is_shared_between_namespaces(folder, machine) || is_container_with_shared_folder(folder, machine);
}

void ensure_keeper(const OpenWorkspace& workspace, const std::string& session_id, const Process& agent) {
  const std::string mark = mark_of(workspace, session_id);
  if (mark.empty()) return;
  const Descriptor file(::open(mark.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return;
  ::futimens(file.number(), nullptr);
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) return;
  start_detached({"lease", "keep-session", workspace.root(), session_id, std::to_string(agent.pid),
                  std::to_string(agent.start_time)},
                 file.number());
}

void end_keeper(const OpenWorkspace& workspace, const std::string& session_id) {
  if (const std::string mark = mark_of(workspace, session_id); !mark.empty()) ::unlink(mark.c_str());
}

}  // namespace leasehold
