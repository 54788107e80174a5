// A real redis-server of our own: in a temporary folder, on a Unix socket and a free port.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace leasehold {

// Ends the process if the server cannot be started: these tests never skip.
class RedisServer {
 public:
  // Further settings, as on its command line.
  explicit RedisServer(std::vector<std::string> settings = {});
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer();

  std::string url(int database = 0) const;  // By its socket.
  std::string tcp_url(int database = 0) const;
  std::string socket() const { return folder() + "/s"; }
  std::string folder() const { return temp_.path(); }
  int port() const { return port_; }
  static int free_port();
  pid_t pid() const { return pid_; }

  void start();      // Again, with the data it left on disk.
  void stop();       // Orderly: what it has goes to disk.
  void kill_hard();  // SIGKILL.
  void pause();      // SIGSTOP.
  void go_on();

  // One command, by a connection of its own; its answer as text, "(nil)" for nothing, arrays line by line.
  std::string call(const std::vector<std::string>& words, int database = 0) const;
  // What follows `name` in that part of INFO; 0 if it is not there.
  std::int64_t number(const std::string& section, const std::string& name) const;

 private:
  void wait_until_ready();

  TempFolder temp_;
  const std::vector<std::string> settings_;
  int port_ = 0;
  pid_t pid_ = -1;
};

// The one that tests of a program share. Gone when the program ends.
RedisServer& shared_redis_server();

// A database of the shared server that nobody else uses; empty now, and in the end.
class RedisDatabase {
 public:
  RedisDatabase();
  RedisDatabase(const RedisDatabase&) = delete;
  RedisDatabase& operator=(const RedisDatabase&) = delete;
  ~RedisDatabase();

  std::string url() const { return shared_redis_server().url(number_); }
  int number() const { return number_; }
  std::string call(const std::vector<std::string>& words) const {
    return shared_redis_server().call(words, number_);
  }

 private:
  const int number_;
};

}  // namespace leasehold
