// A daemon of our own on a store on a real disk, and a client that says HTTP with as little as possible of
// its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "site.h"

namespace leasehold::bench {

class LeaseServer {
 public:
  // Ends the process if it cannot be started.
  LeaseServer();
  LeaseServer(const LeaseServer&) = delete;
  LeaseServer& operator=(const LeaseServer&) = delete;
  ~LeaseServer();

  std::string socket() const { return folder_.path() + "/socket"; }
  pid_t pid() const { return pid_; }
  double resident_megabytes() const;

 private:
  Folder folder_;
  pid_t pid_ = -1;
};

// One connection, kept.
class HttpLine {
 public:
  explicit HttpLine(const std::string& socket);
  HttpLine(const HttpLine&) = delete;
  HttpLine& operator=(const HttpLine&) = delete;
  ~HttpLine();

  bool is_connected() const { return fd_ >= 0; }
  // The response's status; its body is body(). Ends the process if the server hangs up.
  int post(std::string_view target, std::string_view body, std::string_view headers = {});
  int get(std::string_view target);
  const std::string& body() const { return body_; }

 private:
  int exchange(std::string_view request);

  int fd_ = -1;
  std::string heard_;
  std::string body_;
};

}  // namespace leasehold::bench
