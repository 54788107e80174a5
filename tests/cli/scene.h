// A workspace with some files, and agents who run the real `lease` in it.
#pragma once

#include <stdlib.h>

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <regex>

#include "run_lease.h"
#include "started_lease.h"
#include "support/eventually.h"

namespace leasehold {

class Scene : public testing::Test {
 protected:
  Scene() {
    EXPECT_NE(mkdtemp(root_.data()), nullptr);
    if (std::getenv("LEASEHOLD_TEST_SERVER") != nullptr) start_server();
    for (const char* file : {".leasehold.toml", "src/a.ts", "src/b.ts", "tests/a.test.ts", "docs/x.md"})
      add(file);
  }
  // What a killed program started may still write there.
  ~Scene() override {
    server_.reset();
    std::error_code problem;
    for (int i = 0; i < 100; ++i) {
      std::filesystem::remove_all(root_, problem);
      if (!problem) return;
      usleep(50'000);
    }
  }

  void add(const std::string& file) const {
    const std::filesystem::path path = root_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path).put('\n');
  }
  const std::string& root() const { return root_; }
  // What .leasehold.toml has from now on. A server reads it when it is started.
  void configure(const std::string& settings) {
    std::ofstream(root_ + "/.leasehold.toml") << settings;
    if (server_) start_server();
  }
  // Over a daemon: nothing here opens the store itself.
  bool is_served() const { return server_ != nullptr; }

  // Nobody's terminal or agent may show through.
  std::vector<std::string> environment(const std::string& agent) const {
    std::vector<std::string> all = {"LEASE_AGENT=" + agent, "LEASE_SESSION=s-" + agent, "HOME=" + root_,
                                    "NO_COLOR=1"};
    if (server_) all.push_back("LEASE_STORE=http+unix:" + root_ + "/.socket");
    return all;
  }
  Ran as(const std::string& agent, const std::vector<std::string>& arguments,
         const std::string& in = {}) const {
    return run_lease(arguments, {.environment = environment(agent), .out = {}, .cwd = root_, .in = in});
  }
  StartedLease started(const std::string& agent, const std::vector<std::string>& arguments) const {
    return StartedLease(arguments, environment(agent), root_);
  }
  // What a test needs besides `lease`: this succeeds.
  void sh(const std::string& line) const {
    ASSERT_EQ(
        StartedProgram({"/bin/sh", "-c", line}, {"PATH=/usr/bin:/bin", "HOME=" + root_}, root_).wait().exit,
        0)
        << line;
  }
  boost::json::object json(const std::string& agent, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, "--json");
    const Ran ran = as(agent, arguments);
    boost::system::error_code problem;
    const auto value = boost::json::parse(ran.out, problem);
    EXPECT_TRUE(!problem && value.is_object()) << ran.out << ran.err;
    return value.is_object() ? value.as_object() : boost::json::object();
  }
  std::string token_of(const std::string& agent, const std::string& path) const {
    const auto answer = json(agent, {"acquire", path});
    return std::to_string(answer.at("leases").at(0).at("token").to_number<std::uint64_t>());
  }

  bool waits(const std::string& agent) const {
    return as("looker", {"status", "--agent", agent}).out.find("waits") != std::string::npos;
  }

 private:
  // With LEASEHOLD_TEST_SERVER all that is tested here goes over a daemon.
  void start_server() {
    server_.reset();
    std::filesystem::remove(root_ + "/.socket");
    server_ = std::make_unique<StartedLease>(
        std::vector<std::string>{"serve", "--listen", "unix:" + root_ + "/.socket", "--store",
                                 "sqlite:" + root_ + "/.served"},
        std::vector<std::string>{"HOME=" + root_}, root_);
    // Not only that its socket is there: one that is bound but does not listen yet refuses.
    EXPECT_TRUE(eventually([&] { return server_->err().contains("listening on"); })) << server_->err();
  }

  std::unique_ptr<StartedLease> server_;
  std::string root_ = testing::TempDir() + "leasehold-scene-XXXXXX";
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace leasehold
