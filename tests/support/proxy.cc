#include "support/proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace leasehold {
namespace {

constexpr int kTickMs = 20;  // How soon a thread notices that it is to end.

int unix_socket(const std::string& path, bool listens) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), std::min(path.size(), sizeof name.sun_path - 1));
  const auto* generic = reinterpret_cast<const sockaddr*>(&name);
  const bool ready = listens ? bind(fd, generic, sizeof name) == 0 && listen(fd, 64) == 0
                             : connect(fd, generic, sizeof name) == 0;
  if (ready) return fd;
  close(fd);
  return -1;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

Proxy::Proxy(std::string server_socket) : server_socket_(std::move(server_socket)) {
  listener_ = unix_socket(socket(), true);
  if (listener_ < 0) {
    std::perror("proxy");
    std::abort();
  }
  acceptor_ = std::thread([this] { accept_all(); });
}

Proxy::~Proxy() {
  stopping_ = true;
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
}

void Proxy::judge_by(Judge judge) {
  const std::lock_guard lock(mutex_);
  judge_ = std::move(judge);
}

void Proxy::accept_all() {
  while (!stopping_) {
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, kTickMs) <= 0) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, client] { serve(client); });
  }
}

void Proxy::serve(int client) {
  const int server = unix_socket(server_socket_, false);
  bool open = server >= 0;
  while (open && !stopping_) {
    pollfd waiting[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    if (poll(waiting, 2, kTickMs) <= 0) continue;
    for (const bool to_server : {true, false}) {
      if (!open || waiting[to_server ? 0 : 1].revents == 0) continue;
      char buffer[64 * 1024];
      const ssize_t got = read(to_server ? client : server, buffer, sizeof buffer);
      if (got <= 0) {
        open = false;
        break;
      }
      const std::string_view bytes(buffer, static_cast<std::size_t>(got));
      Fate fate = Fate::forward;
      {
        const std::lock_guard lock(mutex_);
        if (judge_) fate = judge_(to_server, bytes);
      }
      const std::string_view passed = fate == Fate::halve ? bytes.substr(0, bytes.size() / 2) : bytes;
      open = fate != Fate::cut && send_all(to_server ? server : client, passed) && fate == Fate::forward;
    }
  }
  close(client);
  if (server >= 0) close(server);
}

}  // namespace leasehold
