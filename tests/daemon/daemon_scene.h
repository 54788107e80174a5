// A workspace with a daemon that serves it.
#pragma once

#include <memory>

#include "scene.h"
#include "talk.h"

namespace leasehold {

class DaemonScene : public Scene {
 protected:
  void TearDown() override { stop(); }

  // Starts it and waits until it listens. `tcp`: on a port of its choice as well.
  void serve(std::vector<std::string> arguments = {}, bool tcp = false) {
    arguments.insert(arguments.begin(), "serve");
    arguments.insert(arguments.end(), {"--listen", "unix:" + socket()});
    if (tcp) arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0"});
    auto variables = environment("server");
    variables.push_back("LEASE_TOKENS=" + root() + "/tokens.json");
    daemon_ = std::make_unique<StartedLease>(arguments, variables, root());
    ASSERT_TRUE(eventually([&] { return Line(socket()).is_connected(); })) << daemon_->err();
    if (!tcp) return;
    std::smatch found;
    std::string said;
    const std::regex line("listening on 127\\.0\\.0\\.1:([0-9]+)\n");
    ASSERT_TRUE(eventually([&] {
      said = daemon_->err();
      return std::regex_search(said, found, line);
    })) << said;
    port_ = std::stoi(found[1]);
  }

  StartedLease& daemon() { return *daemon_; }
  // Returns what it exited with.
  Ran stop() {
    if (!daemon_) return {};
    daemon_->signal(SIGTERM);
    Ran ran = daemon_->wait();
    daemon_.reset();
    return ran;
  }
  // Another one may be served then.
  std::unique_ptr<StartedLease> leave() { return std::move(daemon_); }
  void kill_it() {
    daemon_->signal(SIGKILL);
    (void)daemon_->wait();
    daemon_.reset();
  }

  std::string socket() const { return root() + "/sock"; }
  int port() const { return port_; }

  Reply ask(const std::string& method, const std::string& target, const std::string& body = {},
            const std::string& headers = {}) const {
    return Line(socket()).ask(method, target, body, headers);
  }
  Reply acquire(const std::string& agent, const std::string& path, const std::string& more = {}) const {
    return ask("POST", "/v1/leases",
               R"({"agent_id":")" + agent + R"(","session_id":"s","paths":[")" + path + "\"]" + more + "}");
  }
  static std::string id_of(const Reply& granted) {
    return std::string(granted.json().at("leases").at(0).at("id").as_string());
  }

 private:
  std::unique_ptr<StartedLease> daemon_;
  int port_ = 0;
};

}  // namespace leasehold
