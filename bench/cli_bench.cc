// What one call costs, from exec to exit, against what scripts would call instead: 200 runs of each,
// interleaved, all by the same loop.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "report.h"

namespace leasehold::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRuns = 200;
constexpr int kWarmUps = 5;

struct Contender {
  std::string name;
  std::vector<std::string> command;
  std::vector<std::string> after;  // Run outside the time, to be ready for the next.
  std::vector<double> times_ms;
  std::string input = {};  // A file of the place that it reads.
};

// Everything in one folder that is gone afterwards.
class Place {
 public:
  Place() {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
    std::ofstream(path_ + "/.leasehold.toml").put('\n');
    std::ofstream(path_ + "/file").put('\n');
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    for (const pid_t pid : servers_) {
      kill(pid, SIGTERM);
      waitpid(pid, nullptr, 0);
    }
    std::filesystem::remove_all(path_);
  }
  const std::string& path() const { return path_; }

  pid_t start(const std::vector<std::string>& command, const std::string& input = {}) const {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, path_.c_str());
    if (!input.empty()) posix_spawn_file_actions_addopen(&actions, 0, input.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    const int failed = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed == 0 ? pid : -1;
  }
  void serve(const std::vector<std::string>& command) {
    if (const pid_t pid = start(command); pid > 0) servers_.push_back(pid);
  }
  // The exit status; -1: it could not be run.
  int run(const std::vector<std::string>& command, const std::string& input = {}) const {
    const pid_t pid = start(command, input);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  std::string path_ = "/tmp/leasehold-bench-XXXXXX";
  std::vector<pid_t> servers_;
};

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char part[256];
  while (fgets(part, sizeof part, pipe) != nullptr) text += part;
  pclose(pipe);
  return text;
}

std::vector<Contender> contenders(Place& place, const std::string& lease) {
  const std::string& folder = place.path();
  const std::string socket = folder + "/redis.sock";
  const std::string etcd = "http://127.0.0.1:" + std::to_string(20'000 + getpid() % 20'000);
  place.serve({"redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no"});
  place.serve({"etcd", "--data-dir", folder + "/etcd", "--listen-client-urls", etcd,
               "--advertise-client-urls", etcd, "--listen-peer-urls", "http://127.0.0.1:0"});
  place.run({"sqlite3", "db", "PRAGMA journal_mode=WAL; CREATE TABLE t(a);"});
  place.run({lease, "acquire", "file", "--agent", "ann"});
  const std::string token = output_of(
      fmt::format("cd {} && {} ls --json | sed 's/.*\"token\":\\([0-9]*\\).*/\\1/'", folder, lease));
  const std::string token_word = token.substr(0, token.find('\n'));
  // An agent that writes a file it holds, and one that writes a file of another.
  for (const char* const name : {"own", "file"}) {
    std::ofstream(folder + "/" + name + ".json") << fmt::format(
        R"({{"session_id":"s","cwd":"{0}","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{{"file_path":"{0}/{1}"}}}})",
        folder, name);
  }
  // And one whose shell does a lot before it writes the file that it holds.
  std::string line = "set -e; cd . && export A=1 B=2; ";
  for (int i = 0; i < 40; ++i)
    line += fmt::format("if grep -q x{0} log 2>/dev/null; then echo $A x{0} | sed s/x/y/ | sort -u; fi; ", i);
  line += "for f in a b c; do cat $f | tr a b; done; make -j4 > own 2>&1 && git diff --stat | head -5";
  std::ofstream(folder + "/shell.json") << fmt::format(
      R"({{"session_id":"s","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"{}"}}}})",
      folder, line);
  return {
      {"flock -n FILE true", {"flock", "-n", "file", "true"}, {}, {}},
      {"lease check", {lease, "check", "file", "--token", token_word, "--agent", "ann"}, {}, {}},
      {"lease acquire",
       {lease, "acquire", "other", "--agent", "bob"},
       {lease, "release", "other", "--agent", "bob"},
       {}},
      {"lease hook, allowed", {lease, "hook", "claude-code"}, {}, {}, "own.json"},
      {"lease hook, denied", {lease, "hook", "claude-code"}, {}, {}, "file.json"},
      {"lease hook, long shell command", {lease, "hook", "claude-code"}, {}, {}, "shell.json"},
      {"redis-cli SET NX PX", {"redis-cli", "-s", socket, "SET", "k", "v", "NX", "PX", "1000"}, {}, {}},
      {"sqlite3 BEGIN IMMEDIATE",
       {"sqlite3", "db", "BEGIN IMMEDIATE; INSERT INTO t VALUES(1); COMMIT;"},
       {},
       {}},
      {"python3 -c pass", {"/usr/bin/python3", "-c", "pass"}, {}, {}},
      {"node -e 0", {"node", "-e", "0"}, {}, {}},
      {"etcdctl put", {"etcdctl", "--endpoints", etcd, "put", "k", "v"}, {}, {}},
  };
}

void time_one(const Place& place, Contender& one) {
  const auto began = Clock::now();
  const int status = place.run(one.command, one.input);
  const std::chrono::duration<double, std::milli> took = Clock::now() - began;
  if (status == 0) one.times_ms.push_back(took.count());
  if (!one.after.empty()) place.run(one.after);
}

// False: it is not installed, or fails.
bool is_ready(const Place& place, const Contender& one) {
  for (int i = 0; i < kWarmUps; ++i) {
    if (place.run(one.command, one.input) != 0) {
      // A server may not listen yet.
      for (int tries = 0; tries < 100 && place.run(one.command, one.input) != 0; ++tries) usleep(20'000);
      if (place.run(one.command, one.input) != 0) return false;
    }
    if (!one.after.empty()) place.run(one.after);
  }
  return true;
}

double median(std::vector<Contender>& all, const std::string& name) {
  for (Contender& one : all) {
    if (one.name == name) return quantile(one.times_ms, 0.5);
  }
  return 0;
}

void compare(Report& report, std::vector<Contender>& all, const std::string& what, const std::string& against,
             const std::string& goal) {
  const double other = median(all, against);
  const double own = median(all, what);
  if (other == 0 || own == 0) return;
  report.add(
      {.what = what, .value = own, .unit = "ms p50", .against = against, .ratio = own / other, .goal = goal});
}

int run(const std::string& json_path) {
  Place place;
  // As it is installed: the pages of a file that a linker wrote are faulted in one by one, a copy's in
  // groups.
  const std::string installed = place.path() + "/lease";
  std::filesystem::copy_file(LEASE_BINARY, installed);
  std::vector<Contender> all = contenders(place, installed);
  std::erase_if(all, [&](const Contender& one) {
    if (is_ready(place, one)) return false;
    fmt::print("skipped: {} (not installed, or it fails here)\n", one.name);
    return true;
  });
  for (int i = 0; i < kRuns; ++i) {
    for (Contender& one : all) time_one(place, one);
  }

  Report report;
  for (Contender& one : all) {
    report.add({.what = one.name, .value = quantile(one.times_ms, 0.5), .unit = "ms p50"});
    report.add({.what = one.name, .value = quantile(one.times_ms, 0.99), .unit = "ms p99"});
  }
  compare(report, all, "lease check", "flock -n FILE true", "<= 1.0");
  compare(report, all, "lease acquire", "flock -n FILE true", "<= 1.5");
  compare(report, all, "lease hook, allowed", "lease check", "<= 1.3");
  compare(report, all, "lease hook, denied", "lease check", "<= 1.3");
  compare(report, all, "lease hook, long shell command", "lease hook, allowed", "<= 1.2");
  for (const char* own : {"lease check", "lease acquire"}) {
    compare(report, all, own, "redis-cli SET NX PX", "< 1.0");
    compare(report, all, own, "node -e 0", "<= 0.033");
  }
  return report.finish(json_path) ? 0 : 1;
}

}  // namespace
}  // namespace leasehold::bench

int main(int count, char** values) {
  constexpr std::string_view kJson = "--json=";
  const std::string_view argument = count > 1 ? values[1] : "";
  return leasehold::bench::run(argument.starts_with(kJson) ? std::string(argument.substr(kJson.size())) : "");
}
