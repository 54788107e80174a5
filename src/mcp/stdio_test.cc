#include "mcp/stdio.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <boost/json/parse.hpp>
#include <thread>

#include "mcp/test_agent.h"
#include "support/temp_folder.h"

namespace leasehold::mcp {
namespace {

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  int out() const { return ends_[0]; }
  int in() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{};
};

std::string request(const std::string& id, const std::string& method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":{)" + params + "," +
         std::string(kModernMeta) + "}}";
}

std::string acquire(const std::string& id, const std::string& path, int wait_seconds) {
  return request(id, "tools/call",
                 R"("name":"lease_acquire","arguments":{"paths":[")" + path + R"("],"wait_seconds":)" +
                     std::to_string(wait_seconds) + "}");
}

class McpLines : public testing::Test {
 protected:
  McpLines() {
    serving_ = std::jthread([this] { serve_lines(agent_.server(), to_.out(), from_.in(), stop_.fd()); });
  }
  ~McpLines() override {
    stop_.give();
    serving_.join();
  }

  void say(const std::string& line) {
    const std::string text = line + '\n';
    EXPECT_EQ(::write(to_.in(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  // The next that is sent; nothing within a minute: an empty one.
  json::object hear() {
    for (;;) {
      if (const auto end = heard_.find('\n'); end != std::string::npos) {
        const json::value message = json::parse(heard_.substr(0, end));
        heard_.erase(0, end + 1);
        return message.as_object();
      }
      pollfd watched = {from_.out(), POLLIN, 0};
      char part[4096];
      const ssize_t count = ::poll(&watched, 1, 60'000) > 0 ? ::read(from_.out(), part, sizeof part) : 0;
      if (count <= 0) return {};
      heard_.append(part, static_cast<std::size_t>(count));
    }
  }

  TempFolder folder_;
  Agent agent_{folder_.path()};
  Agent other_{folder_.path(), "s2"};
  Pipe to_;
  Pipe from_;
  Nudge stop_;
  std::string heard_;
  std::jthread serving_;
};

TEST_F(McpLines, AnIdThatIsInUseIsRefused) {
  other_.call("lease_acquire", R"({"paths":["a"]})");
  say(acquire("1", "a", 600));

  say(acquire("1", "b", 600));
  EXPECT_EQ(code_of(hear()), kInvalidRequest);
  say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  say(acquire("2", "c", 1));

  EXPECT_EQ(hear().at("id"), 2);
  const json::object board = other_.call("lease_status", R"({"paths":["b"]})");
  EXPECT_EQ(document(board).at("paths").at(0).at("state"), "free");
}

TEST_F(McpLines, WhoListensLeavesRoomForCallsThatWait) {
  for (int id = 100; id < 164; ++id) {
    say(request(std::to_string(id), "subscriptions/listen",
                R"("notifications":{"resourceSubscriptions":["lease://file/x"]})"));
    EXPECT_EQ(hear().at("method"), "notifications/subscriptions/acknowledged");
  }
  say(request("164", "subscriptions/listen", R"("notifications":{})"));
  EXPECT_EQ(code_of(hear()), kInternalError);

  say(acquire("1", "a", 1));

  const json::object answer = hear();
  EXPECT_EQ(answer.at("id"), 1);
  EXPECT_EQ(code_of(answer), 0);
}

TEST_F(McpLines, NobodyIsToldWhatIsWrongWithANotification) {
  say(R"({"jsonrpc":"2.0","method":"notifications/initialized","params":[]})");
  say(R"({"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"a":"\ud800"}})");

  const json::object answer = hear();

  EXPECT_EQ(answer.at("id"), "x");
  EXPECT_EQ(code_of(answer), kParseError);
}

}  // namespace
}  // namespace leasehold::mcp
