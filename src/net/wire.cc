#include "net/wire.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <nss.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <thread>

#include "util/utf8.h"

// The linker's: not there in a program that is linked statically.
extern "C" [[gnu::weak]] const char _DYNAMIC[];  // NOLINT(*-identifier*)

namespace leasehold::net {
namespace {

constexpr std::chrono::milliseconds kLookForRoom{2};

class Socket final : public Wire {
 public:
  explicit Socket(Descriptor socket) : socket_(std::move(socket)) {}

  int fd() const override { return socket_.number(); }

  Step read(char* to, std::size_t size, std::size_t& moved) override {
    return outcome(recv(fd(), to, size, 0), moved, Step::needs_read);
  }

  Step write(const char* from, std::size_t size, std::size_t& moved) override {
    return outcome(send(fd(), from, size, MSG_NOSIGNAL), moved, Step::needs_write);
  }

 private:
  static Step outcome(ssize_t result, std::size_t& moved, Step otherwise) {
    if (result > 0) {
      moved = static_cast<std::size_t>(result);
      return Step::done;
    }
    if (result == 0) return Step::closed;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return otherwise;
    return errno == ECONNRESET || errno == EPIPE ? Step::closed : Step::failed;
  }

  Descriptor socket_;
};

// What was cut off without a word (a firewall forgot it, a machine is gone) is noticed while it idles, and
// not first by a request that waits for its answer.
void keep_checking(const Descriptor& connection) {
  const auto set = [&](int level, int option, int value) {
    setsockopt(connection.number(), level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::unexpected<Error> unreachable(std::string_view called, std::string_view why) {
  return fail(Code::unavailable,
              fmt::format("Cannot connect to {}: {}. Check that the server runs and can be reached from "
                          "here, then ask again.",
                          called, why));
}

// An open connection, or errno.
std::expected<Descriptor, int> connect_to(const sockaddr* address, socklen_t size, int family,
                                          Deadline deadline) {
  Descriptor connection(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connection.is_open()) return std::unexpected(errno);
  int error = 0;
  while (::connect(connection.number(), address, size) != 0) {
    error = errno;
    // A Unix socket where too many wait to be let in says so at once, and not when there is room again.
    if (error != EAGAIN || std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(kLookForRoom);
    error = 0;
  }
  if (error == EINPROGRESS) {
    socklen_t length = sizeof error;
    error = ETIMEDOUT;
    if (wait_for(connection.number(), Step::needs_write, deadline))
      getsockopt(connection.number(), SOL_SOCKET, SO_ERROR, &error, &length);
  }
  if (error != 0) return std::unexpected(error);
  return connection;
}

Result<Descriptor> connect_unix(const std::string& path, std::string_view called, Deadline deadline) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) {
    return fail(Code::config_error,
                fmt::format("The path of the Unix socket {} is too long; at most {} bytes are allowed.",
                            in_sentence(path), sizeof name.sun_path - 1));
  }
  std::memcpy(name.sun_path, path.data(), path.size());
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how sockets take addresses.
  auto connection = connect_to(reinterpret_cast<const sockaddr*>(&name), sizeof name, AF_UNIX, deadline);
  if (!connection) return unreachable(called, std::strerror(connection.error()));
  return *std::move(connection);
}

// What a name stands for.
struct Resolved {
  Resolved() = default;
  Resolved(const Resolved&) = delete;
  Resolved& operator=(const Resolved&) = delete;
  ~Resolved() {
    if (found != nullptr) freeaddrinfo(found);
  }
  addrinfo* found = nullptr;
  int error = 0;
};

// A program linked statically has only these two ways to look up a name. For others that a machine names in
// nsswitch.conf glibc would load libraries, and with them a second glibc, perhaps of another version.
void keep_to_own_lookups() {
  if (_DYNAMIC == nullptr) __nss_configure_lookup("hosts", "files dns");
}

std::shared_ptr<Resolved> resolve(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  auto resolved = std::make_shared<Resolved>();
  resolved->error = getaddrinfo(host.c_str(), port.c_str(), &hints, &resolved->found);
  return resolved;
}

// The resolver cannot be told a deadline: who takes longer is left to itself. Nothing: it did.
std::shared_ptr<Resolved> resolve_until(const Endpoint& server, Deadline deadline) {
  if (auto numeric = resolve(server.host, server.port, AI_NUMERICHOST); numeric->error == 0) return numeric;
  auto promise = std::make_shared<std::promise<std::shared_ptr<Resolved>>>();
  std::future<std::shared_ptr<Resolved>> answer = promise->get_future();
  std::thread([promise, host = server.host, port = server.port] {
    keep_to_own_lookups();
    promise->set_value(resolve(host, port, 0));
  }).detach();
  return answer.wait_until(deadline) == std::future_status::ready ? answer.get() : nullptr;
}

Result<Descriptor> connect_tcp(const Endpoint& server, std::string_view called, Deadline deadline) {
  const auto resolved = resolve_until(server, deadline);
  if (!resolved) return unreachable(called, "its name was not found in time");
  if (resolved->error != 0) return unreachable(called, gai_strerror(resolved->error));
  int left = 0;
  for (const addrinfo* one = resolved->found; one != nullptr; one = one->ai_next) ++left;
  int error = ETIMEDOUT;
  for (const addrinfo* one = resolved->found; one != nullptr; one = one->ai_next, --left) {
    // One that does not answer must not take the time of the others.
    const auto now = std::chrono::steady_clock::now();
    const Deadline share = now + (deadline - now) / left;
    auto connection = connect_to(one->ai_addr, one->ai_addrlen, one->ai_family, share);
    if (!connection) {
      error = connection.error();
      continue;
    }
    const int on = 1;
    setsockopt(connection->number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    keep_checking(*connection);
    return *std::move(connection);
  }
  return unreachable(called, std::strerror(error));
}

}  // namespace

bool wait_for(int fd, Step step, Deadline deadline) {
  pollfd waiting{fd, static_cast<short>(step == Step::needs_write ? POLLOUT : POLLIN), 0};
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    const int ready = poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Result<std::unique_ptr<Wire>> connect(const Endpoint& server, std::string_view called, Deadline deadline) {
  auto socket = server.socket.empty() ? connect_tcp(server, called, deadline)
                                      : connect_unix(server.socket, called, deadline);
  if (!socket) return fail(socket.error());
  if (server.tls) return secure(*std::move(socket), server, called, deadline);
  return std::make_unique<Socket>(*std::move(socket));
}

}  // namespace leasehold::net
