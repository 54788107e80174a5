// What one call of a tool costs over standard input and output: lease_status against get_file_info of the
// reference file system server, in one run, interleaved, by the same loop.
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

constexpr int kCalls = 2'000;
constexpr int kWarmUps = 200;
constexpr int kLeases = 20;  // What a board of some agents has.

// A server as a process; one request at a time.
class Server {
 public:
  Server(std::vector<std::string> command, const std::string& cwd) {
    int in[2] = {};
    int out[2] = {};
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
    ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
        R"("capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})");
    say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    close(to_);
    close(from_);
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }

  void say(const std::string& line) const {
    const std::string text = line + "\n";
    if (write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  }
  std::string ask(const std::string& line) const {
    say(line);
    std::string answer;
    char part[65536];
    while (!answer.ends_with('\n')) {
      const ssize_t count = read(from_, part, sizeof part);
      if (count <= 0) return {};
      answer.append(part, static_cast<std::size_t>(count));
    }
    return answer;
  }
  // In microseconds; 0: it was no success.
  double time(const std::string& tool, const std::string& arguments) const {
    const std::string line = fmt::format(
        R"({{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}","arguments":{}}}}})", tool,
        arguments);
    const auto began = Clock::now();
    const std::string answer = ask(line);
    const std::chrono::duration<double, std::micro> took = Clock::now() - began;
    const bool failed =
        answer.empty() || answer.contains(R"("isError":true)") || answer.contains(R"("error":)");
    return failed ? 0 : took.count();
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
};

std::string clients_folder() {
  std::string text;
  FILE* const pipe = popen(MCP_FOLDER "/install", "r");
  if (pipe == nullptr) return text;
  char part[256];
  while (fgets(part, sizeof part, pipe) != nullptr) text += part;
  pclose(pipe);
  return text.substr(0, text.find('\n'));
}

int run(const std::string& json_path) {
  std::string place = "/tmp/leasehold-bench-XXXXXX";
  if (mkdtemp(place.data()) == nullptr) return 1;
  std::ofstream(place + "/.leasehold.toml").put('\n');
  for (int i = 0; i < kLeases; ++i) std::ofstream(fmt::format("{}/file{}", place, i)).put('\n');
  const std::string folder = clients_folder();
  if (folder.empty()) {
    fmt::print(stderr, "The reference server is not installed, and npm cannot be reached.\n");
    return 1;
  }
  std::vector<double> ours;
  std::vector<double> board;
  std::vector<double> theirs;
  {
    const Server lease({LEASE_BINARY, "mcp", "--agent", "ann", "--session", "s"}, place);
    const Server files(
        {folder + "/node22", folder + "/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
         place},
        place);
    std::string paths;
    for (int i = 0; i < kLeases; ++i) paths += fmt::format("{}\"file{}\"", i == 0 ? "" : ",", i);
    lease.time("lease_acquire", fmt::format(R"({{"paths":[{}]}})", paths));
    for (int i = -kWarmUps; i < kCalls; ++i) {
      const double one = lease.time("lease_status", R"({"paths":["file1"]})");
      const double all = lease.time("lease_status", "{}");
      const double other = files.time("get_file_info", fmt::format(R"({{"path":"{}/file1"}})", place));
      if (one == 0 || all == 0 || other == 0) {
        fmt::print(stderr, "A call failed.\n");
        return 1;
      }
      if (i < 0) continue;
      ours.push_back(one);
      board.push_back(all);
      theirs.push_back(other);
    }
  }
  std::filesystem::remove_all(place);

  Report report;
  const double reference = quantile(theirs, 0.5);
  const double p50 = quantile(ours, 0.5);
  report.add({"server-filesystem get_file_info, p50", reference, "us", "", {}, ""});
  report.add({"lease_status of one file, p50", p50, "us", "get_file_info", reference / p50, ">= 3"});
  report.add({"lease_status of one file, p99", quantile(ours, 0.99), "us", "", {}, ""});
  report.add({fmt::format("lease_status of {} leases, p50", kLeases), quantile(board, 0.5), "us",
              "get_file_info", reference / quantile(board, 0.5), ""});
  return report.finish(json_path) ? 0 : 1;
}

}  // namespace
}  // namespace leasehold::bench

int main(int count, char** values) {
  constexpr std::string_view kJson = "--json=";
  const std::string_view argument = count > 1 ? values[1] : "";
  return leasehold::bench::run(argument.starts_with(kJson) ? std::string(argument.substr(kJson.size())) : "");
}
