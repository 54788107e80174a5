#include "daemon/listening.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "util/descriptor.h"
#include "util/number.h"
#include "util/utf8.h"

namespace leasehold::daemon {
namespace {

constexpr int kBacklog = 1'024;
constexpr int kFirstPassed = 3;

std::unexpected<Error> cannot(const std::string& text, std::string_view why) {
  return fail(Code::unavailable, fmt::format("Cannot listen on {}: {}.", in_sentence(text), why));
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(four->sin_addr.s_addr) >> 24) == 127;
  }
  const auto* six = reinterpret_cast<const sockaddr_in6*>(address);
  return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

// What a listening socket is; its family, and for TCP its address as it came out.
Result<Listener> describe(Descriptor socket, SocketFile file) {
  const int fd = socket.number();
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (::getsockname(fd, address, &length) != 0)
    return fail(Code::config_error, fmt::format("Descriptor {} is no socket to listen on.", fd));
  if (address->sa_family == AF_UNIX) {
    const auto* local = reinterpret_cast<const sockaddr_un*>(address);
    return Listener{.socket = std::move(socket),
                    .is_unix = true,
                    .text = fmt::format("unix:{}", length > sizeof(sa_family_t) ? local->sun_path : ""),
                    .file = std::move(file)};
  }
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (::getnameinfo(address, length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) !=
      0)
    return fail(Code::config_error, fmt::format("Descriptor {} is neither TCP nor a Unix socket.", fd));
  const bool six = address->sa_family == AF_INET6;
  return Listener{.socket = std::move(socket),
                  .is_loopback = is_loopback(address),
                  .text = six ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port),
                  .file = {}};
}

bool somebody_listens(const sockaddr_un& address) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket.is_open() &&
         ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

Result<Listener> listen_on_unix(const Address& where) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (where.path.size() >= sizeof address.sun_path)
    return cannot(where.text, fmt::format("the path has more than {} bytes. Give a shorter one with --listen",
                                          sizeof address.sun_path - 1));
  where.path.copy(address.sun_path, where.path.size());
  std::error_code ignored;
  const auto folder = std::filesystem::path(where.path).parent_path();
  if (!folder.empty() && std::filesystem::create_directories(folder, ignored))
    ::chmod(folder.c_str(), S_IRWXU);
  // Two daemons that start at once must not take each other's socket for a dead one's.
  const Descriptor lock(
      ::open((where.path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.is_open() || ::flock(lock.number(), LOCK_EX) != 0)
    return cannot(where.text, std::strerror(errno));
  if (somebody_listens(address)) return cannot(where.text, "another process serves there already");
  struct stat there{};
  if (::lstat(where.path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) return cannot(where.text, "there is a file of that name that is no socket");
    ::unlink(where.path.c_str());
  }
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const mode_t mask = ::umask(0177);
  const int bound = ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(mask);
  if (bound != 0) return cannot(where.text, std::strerror(errno));
  SocketFile file(where.path);
  if (::listen(socket.number(), kBacklog) != 0) return cannot(where.text, std::strerror(errno));
  return describe(std::move(socket), std::move(file));
}

Result<std::vector<Listener>> listen_on_tcp(const Address& where) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int problem = ::getaddrinfo(where.host.c_str(), where.port.c_str(), &hints, &found); problem != 0)
    return cannot(where.text, ::gai_strerror(problem));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  std::vector<Listener> listeners;
  std::string why = "it has no address";
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Descriptor socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int fd = socket.number();
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (one->ai_family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (!socket.is_open() || ::bind(fd, one->ai_addr, one->ai_addrlen) != 0 || ::listen(fd, kBacklog) != 0) {
      why = std::strerror(errno);
      continue;
    }
    auto listener = describe(std::move(socket), {});
    if (!listener) return fail(listener.error());
    listeners.push_back(*std::move(listener));
    if (where.port == "0") break;  // Another family would get another port.
  }
  if (listeners.empty()) return cannot(where.text, why);
  return listeners;
}

}  // namespace

Result<Address> read_address(std::string_view text) {
  Address address = {.text = std::string(text), .path = {}, .host = {}, .port = {}};
  if (text.starts_with("unix:")) {
    address.path = text.substr(5);
    if (address.path.starts_with('/')) return address;
    return fail(Code::invalid_argument,
                fmt::format("--listen is {}; the socket's path has to be absolute: unix:/run/lease.sock.",
                            in_quotes(text)));
  }
  const auto colon = text.rfind(':');
  if (colon != std::string_view::npos && colon > 0) {
    address.host = text.substr(0, colon);
    address.port = text.substr(colon + 1);
    if (address.host.starts_with('[') && address.host.ends_with(']'))
      address.host = address.host.substr(1, address.host.size() - 2);
    if (parse_number<std::uint16_t>(address.port) && !address.host.empty()) return address;
  }
  return fail(
      Code::invalid_argument,
      fmt::format("--listen is {}; give unix:PATH or HOST:PORT, such as 127.0.0.1:7420.", in_quotes(text)));
}

Result<std::vector<Listener>> listen_on(const Address& address) {
  if (!address.is_unix()) return listen_on_tcp(address);
  auto listener = listen_on_unix(address);
  if (!listener) return fail(listener.error());
  std::vector<Listener> listeners;
  listeners.push_back(*std::move(listener));
  return listeners;
}

Result<std::vector<Listener>> passed_listeners() {
  const char* const pid = std::getenv("LISTEN_PID");
  const char* const count = std::getenv("LISTEN_FDS");
  std::vector<Listener> listeners;
  if (pid != nullptr && count != nullptr && std::to_string(::getpid()) == pid) {
    for (int fd = kFirstPassed; fd < kFirstPassed + parse_number<int>(count).value_or(0); ++fd) {
      int listens = 0;
      socklen_t length = sizeof listens;
      if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || listens == 0)
        return fail(Code::config_error,
                    fmt::format("Descriptor {}, passed by LISTEN_FDS, does not listen.", fd));
      ::fcntl(fd, F_SETFD, FD_CLOEXEC);
      ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
      auto listener = describe(Descriptor(fd), {});
      if (!listener) return fail(listener.error());
      listeners.push_back(*std::move(listener));
    }
  }
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  return listeners;
}

void notify(std::string_view state) {
  const char* const socket = std::getenv("NOTIFY_SOCKET");
  if (socket == nullptr || (*socket != '/' && *socket != '@')) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string_view path = socket;
  if (path.size() >= sizeof address.sun_path) return;
  path.copy(address.sun_path, path.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const Descriptor sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!sender.is_open()) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  [[maybe_unused]] const auto sent = ::sendto(sender.number(), state.data(), state.size(), MSG_NOSIGNAL,
                                              reinterpret_cast<const sockaddr*>(&address), length);
}

}  // namespace leasehold::daemon
