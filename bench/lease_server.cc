#include "lease_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <fstream>
#include <thread>

namespace leasehold::bench {

LeaseServer::LeaseServer() {
  const std::string store = "sqlite:" + folder_.path() + "/store";
  const std::string listen = "unix:" + socket();
  pid_ = fork();
  if (pid_ == 0) {
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nowhere, STDERR_FILENO);
    execl(LEASE_BINARY, LEASE_BINARY, "serve", "-C", folder_.path().c_str(), "--listen", listen.c_str(),
          "--store", store.c_str(), nullptr);
    _exit(127);
  }
  for (int i = 0; i < 500; ++i) {
    if (HttpLine(socket()).is_connected()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  give_up("lease serve did not come up");
}

LeaseServer::~LeaseServer() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

double LeaseServer::resident_megabytes() const {
  std::ifstream file(fmt::format("/proc/{}/statm", pid_));
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

HttpLine::HttpLine(const std::string& socket) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return;
  close(fd_);
  fd_ = -1;
}

HttpLine::~HttpLine() {
  if (fd_ >= 0) close(fd_);
}

int HttpLine::post(std::string_view target, std::string_view body, std::string_view headers) {
  return exchange(fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\n{}Content-Length: {}\r\n\r\n{}", target,
                              headers, body.size(), body));
}

int HttpLine::get(std::string_view target) {
  return exchange(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", target));
}

int HttpLine::exchange(std::string_view request) {
  while (!request.empty()) {
    const ssize_t sent = send(fd_, request.data(), request.size(), MSG_NOSIGNAL);
    if (sent <= 0) give_up("lease serve hung up");
    request.remove_prefix(static_cast<std::size_t>(sent));
  }
  std::size_t end = std::string::npos;
  std::size_t length = 0;
  while (end == std::string::npos || heard_.size() < end + length) {
    char buffer[64 * 1024];
    const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
    if (got <= 0) give_up("lease serve hung up");
    heard_.append(buffer, static_cast<std::size_t>(got));
    if (end != std::string::npos) continue;
    const std::size_t blank = heard_.find("\r\n\r\n");
    if (blank == std::string::npos) continue;
    end = blank + 4;
    constexpr std::string_view kLength = "Content-Length: ";
    if (const std::size_t at = heard_.find(kLength); at < end)
      std::from_chars(heard_.data() + at + kLength.size(), heard_.data() + end, length);
  }
  int status = 0;
  constexpr std::size_t kStatus = 9;  // Behind "HTTP/1.1 ".
  std::from_chars(heard_.data() + kStatus, heard_.data() + heard_.size(), status);
  body_ = heard_.substr(end, length);
  heard_.erase(0, end + length);
  return status;
}

}  // namespace leasehold::bench
