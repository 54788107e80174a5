// `lease mcp` as a process, spoken to line by line.
#pragma once

#include <poll.h>

#include "cli/scene.h"

namespace leasehold {

class StartedServer {
 public:
  StartedServer(std::vector<std::string> environment, const std::string& cwd) {
    int in[2] = {};
    int out[2] = {};
    EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    std::vector<std::string> command = {LEASE_BINARY, "mcp"};
    EXPECT_EQ(posix_spawn(&pid_, LEASE_BINARY, &actions, nullptr, pointers(command).data(),
                          pointers(environment).data()),
              0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  StartedServer(const StartedServer&) = delete;
  StartedServer& operator=(const StartedServer&) = delete;
  ~StartedServer() {
    hang_up();
    if (pid_ > 0) kill(pid_, SIGKILL);
    (void)wait();
    close(from_);
  }

  void say(const std::string& line) const {
    const std::string text = line + "\n";
    EXPECT_EQ(write(to_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // The next line; nothing within a minute, or at the end of all: an empty object.
  boost::json::object hear() {
    for (;;) {
      if (const std::size_t end = heard_.find('\n'); end != std::string::npos) {
        const std::string line = heard_.substr(0, end);
        heard_.erase(0, end + 1);
        boost::system::error_code problem;
        const auto value = boost::json::parse(line, problem);
        EXPECT_TRUE(!problem && value.is_object()) << line;
        return value.is_object() ? value.as_object() : boost::json::object();
      }
      constexpr int kLongestMs = 60'000;
      pollfd watched = {from_, POLLIN, 0};
      if (poll(&watched, 1, kLongestMs) <= 0) return {};
      char part[4096];
      const ssize_t count = read(from_, part, sizeof part);
      if (count <= 0) return {};
      heard_.append(part, static_cast<std::size_t>(count));
    }
  }

  // As a client of 2025-11-25 begins.
  void greet(const std::string& name = "tester") {
    say(R"({"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":")" +
        name + R"(","version":"1"}}})");
    EXPECT_EQ(hear().at("id"), "hello");
    say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }
  void ask(int id, const std::string& tool, const std::string& arguments) const {
    say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" +
        tool + R"(","arguments":)" + arguments + "}}");
  }
  boost::json::object call(int id, const std::string& tool, const std::string& arguments) {
    ask(id, tool, arguments);
    const auto answer = hear();
    EXPECT_TRUE(answer.contains("result") && answer.at("id") == id) << boost::json::serialize(answer);
    return answer.contains("result") ? answer.at("result").at("structuredContent").as_object()
                                     : boost::json::object();
  }

  void hang_up() {
    if (to_ >= 0) close(to_);
    to_ = -1;
  }
  void signal(int number) const { kill(pid_, number); }
  // How it ended, as waitpid(2) says.
  int wait() {
    int status = 0;
    if (pid_ <= 0 || waitpid(pid_, &status, 0) != pid_) return -1;
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_ = 0;
  int to_ = -1;
  int from_ = -1;
  std::string heard_;
};

}  // namespace leasehold
