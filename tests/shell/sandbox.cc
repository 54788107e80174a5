#include "sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "util/check.h"

namespace leasehold::shell {
namespace {

namespace fs = std::filesystem;

// Run once, in an empty folder; every sandbox is a copy.
constexpr const char* kProject = R"(
set -e
mkdir -p home work && cd work
printf 'one\ntwo\nthree\n' > a.txt
printf 'bee\n' > b.txt
printf 'sea\n' > c.txt
printf 'x\n' > 'with space.txt'
printf 'a.txt\nb.txt\n' > list.txt
printf '{"a": 1}\n' > data.json
mkdir -p src/deep docs build empty lib
printf 'const a = 1\n' > src/a.ts
printf 'const b = 1\n' > src/b.ts
printf 'const c = 1\n' > src/deep/c.ts
printf 'var a = 1\n' > src/a.js
printf '# x\n' > docs/x.md
printf '# y\n' > docs/y.md
printf 'fn  main( ) { }\n' > main.rs
printf 'int  main( ) { }\n' > main.cc
printf 'a  = 1\n' > main.tf
printf 'import sys\nimport os\na  = 1\n' > main.py && cp main.py lib/stub.pyi
printf 'package x\nvar  a = 1\n' > main.go
printf 'syntax = "proto3";\nmessage  A {}\n' > main.proto
printf 'object\n' > build/out.o
printf 'all:\n\techo made > made.txt\n' > Makefile
printf '#!/bin/sh\necho ran > ran.txt\n' > script.sh
chmod +x script.sh
ln -s a.txt link.txt && ln -s docs linked && ln -s ../work/src/deep ../home/deep
git init -q -b main .
git config user.name x && git config user.email x@example.org && git config commit.gpgsign false
printf 'build/\n' > .gitignore
git add -A && git commit -q -m first
git checkout -q -b other && printf '# other\n' > docs/x.md && printf 'new\n' > other.txt
git add -A && git commit -q -m other
git checkout -q main
git branch packed && git update-ref refs/remotes/origin/main main && git pack-refs --all && git branch loose
sed s/two/2/ a.txt > a.new; diff -u a.txt a.new | sed 's/a\.new/a.txt/' > fix.diff || true; rm a.new
printf 'changed\n' >> b.txt
mkdir in && echo 1 > in/p && echo 2 > in/q && tar cf archive.tar in && rm -r in
printf 'loose\n' > loose.txt
)";

// What programs keep for themselves in the home folder.
const std::set<std::string> kCaches = {".cache", ".local", "go"};

int run_in(const std::string& folder, const std::string& home, const std::string& command) {
  const char* path = std::getenv("PATH");
  std::vector<std::string> variables = {fmt::format("PATH={}", path == nullptr ? "/usr/bin:/bin" : path),
                                        "HOME=" + home, "LANG=C.UTF-8", "CHECKPOINT_DISABLE=1",
                                        "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true",
                                        // Nothing is fetched, whatever a command tries.
                                        "http_proxy=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1",
                                        "npm_config_offline=true", "TMPDIR=" + home};
  std::vector<std::string> words = {"bash", "-c", command};
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int failed =
      posix_spawnp(&pid, "bash", &actions, &attributes, pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  LEASEHOLD_CHECK(failed == 0);
  constexpr int kTimeoutMs = 20'000;
  const int watched = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  pollfd ended = {.fd = watched, .events = POLLIN};
  const bool in_time = poll(&ended, 1, kTimeoutMs) == 1;
  kill(-pid, SIGKILL);  // What it left running, too.
  close(watched);
  int status = 0;
  waitpid(pid, &status, 0);
  return in_time ? (WIFEXITED(status) ? WEXITSTATUS(status) : 128) : -1;
}

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

const std::string& project() {
  static const TempFolder made;
  static const bool is_ready = [] {
    LEASEHOLD_CHECK(run_in(made.path(), made.path() + "/home", kProject) == 0);
    return true;
  }();
  LEASEHOLD_CHECK(is_ready);
  return made.path();
}

}  // namespace

Sandbox::Sandbox() {
  fs::copy(project(), root(), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

bool Sandbox::run(const std::string& command) const { return run_in(work(), home(), command) >= 0; }

std::map<std::string, std::string> Sandbox::look() const {
  std::map<std::string, std::string> found;
  for (auto entry = fs::recursive_directory_iterator(root()); entry != fs::recursive_directory_iterator();
       ++entry) {
    const fs::path& path = entry->path();
    const bool is_kept = path.parent_path() == home() && kCaches.contains(path.filename().string());
    if (path.filename() == ".git" || is_kept) entry.disable_recursion_pending();
    struct stat info = {};
    if (lstat(path.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) continue;
    const std::string content = S_ISLNK(info.st_mode) ? fs::read_symlink(path).string() : read(path);
    found[path.string()] = fmt::format("{} {:o} {}", info.st_ino, info.st_mode, content);
  }
  return found;
}

}  // namespace leasehold::shell
