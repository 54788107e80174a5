#include "daemon/server.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>

#include "daemon/connection.h"
#include "daemon/listening.h"
#include "daemon/mcp_sessions.h"
#include "daemon/places.h"
#include "daemon/tokens.h"
#include "daemon/upkeep.h"
#include "open/served_socket.h"
#include "util/lower_case.h"

namespace leasehold::daemon {
namespace {

using namespace std::chrono_literals;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

constexpr std::size_t kGuestsMost = 10'000;
// Of these, for the Unix socket alone: other machines must not keep out who is at this one.
constexpr std::size_t kLocalGuests = 1'000;
// Connections that are being served when we are told to stop have so long to end.
constexpr auto kStopTime = 10s;
// Requests that have begun to arrive, to arrive whole.
constexpr auto kArrivalTime = 1s;
// And what upkeep looks at just then.
constexpr auto kUpkeepTime = 100ms;

// A machine that vanished says nothing; what it waits for is not to be granted to it. Noticed within two
// minutes.
void keep_alive(int fd) {
  constexpr int kOn = 1;
  constexpr int kIdleSeconds = 60;
  constexpr int kBetweenSeconds = 15;
  constexpr int kTimes = 4;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof kOn);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds, sizeof kIdleSeconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kBetweenSeconds, sizeof kBetweenSeconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kTimes, sizeof kTimes);
}

Peer peer_of(int fd, const Listener& listener) {
  Peer peer = {.is_unix = listener.is_unix, .certificate = {}};
  if (listener.is_unix) {
    ucred who{};
    socklen_t length = sizeof who;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0) peer.uid = who.uid;
  } else {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    keep_alive(fd);
    peer.is_loopback = listener.is_loopback;
  }
  return peer;
}

Result<std::shared_ptr<const Tokens>> read_tokens() {
  const auto file = token_file();
  if (!file) return fail(file.error());
  return Tokens::read(*file);
}

// Which file of tokens it is, and in which state: who changes it makes a new one.
struct FileState {
  dev_t device{};
  ino_t number{};
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;

  bool operator==(const FileState&) const = default;
};

FileState state_of_tokens() {
  const auto file = token_file();
  struct stat found{};
  if (!file || ::stat(file->c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

Result<std::shared_ptr<asio::ssl::context>> read_certificates(const ServeOptions& options) {
  if (options.tls_certificate.empty() && options.tls_key.empty() && options.client_ca.empty())
    return std::shared_ptr<asio::ssl::context>();
  if (options.tls_certificate.empty() || options.tls_key.empty())
    return fail(Code::config_error, "--tls-cert and --tls-key belong together, and --client-ca needs both.");
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  boost::system::error_code failed;
  const auto cannot = [&](const std::string& file) {
    return fail(Code::config_error, fmt::format("{} cannot be used: {}.", file, failed.message()));
  };
  std::ignore = tls->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1, failed);
  if (tls->use_certificate_chain_file(options.tls_certificate, failed))
    return cannot(options.tls_certificate);
  if (tls->use_private_key_file(options.tls_key, asio::ssl::context::pem, failed))
    return cannot(options.tls_key);
  if (!options.client_ca.empty()) {
    if (tls->load_verify_file(options.client_ca, failed)) return cannot(options.client_ca);
    std::ignore =
        tls->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert, failed);
  }
  return tls;
}

// Thousands of connections, and a bell for each that waits.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string host_part(const std::string& address) {
  const auto colon = address.rfind(':');
  return address.substr(0, colon);
}

// What asks to stop waits until the server can heed it: nobody is to find its sockets without it. Threads
// that are started meanwhile are not asked at all.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t all;
    ::sigemptyset(&all);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&all, number);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

class Server {
 public:
  Server(ServeOptions options, Services& services, StoreMemory& memory, Log& log,
         std::vector<Listener> listeners, std::shared_ptr<const Tokens> tokens,
         std::shared_ptr<asio::ssl::context> tls)
      : options_(std::move(options)),
        log_(log),
        listeners_(std::move(listeners)),
        tls_(std::move(tls)),
        state_(io_, services, log, Door(door_options(), std::move(tokens)), &memory),
        upkeep_(state_) {
    state_.look_for_tokens = [this] { return look_for_tokens(); };
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void run() {
    for (Listener& listener : listeners_) {
      acceptors_.emplace_back(io_, asio::generic::stream_protocol(listener.is_unix ? AF_UNIX : AF_INET, 0),
                              listener.socket.release());
      asio::co_spawn(io_, accept_all(acceptors_.back(), listener), asio::detached);
      log_.say(LogLevel::info, "listening on " + listener.text);
    }
    asio::co_spawn(io_, heed_signals(), asio::detached);
    upkeep_.start([this] { end_if_done(); });
    notify("READY=1\nSTATUS=Serving leases");
    io_.run();
    state_.mcp_sessions->end();
    const std::size_t left = state_.guests.size();
    if (left > 0) log_.say(LogLevel::warning, fmt::format("{} connections did not end in time", left));
    log_.say(LogLevel::info, "stopped");
    if (left == 0 && !upkeep_.is_running()) return;
    // Some did not end in time, or a look at a large store goes on that nobody needs any more. What anybody
    // was told is kept; taking the rest apart would gain nothing.
    if (left == 0) state_.writer.finish();
    listeners_.clear();
    ::_exit(0);
  }

 private:
  Door::Options door_options() const {
    Door::Options options = {.uid = ::geteuid(),
                             .hosts = {"localhost", "127.0.0.1", "[::1]"},
                             .open_to_loopback = options_.open_to_loopback};
    for (const Listener& listener : listeners_) {
      if (!listener.is_unix) options.hosts.insert(host_part(listener.text));
    }
    for (const std::string& host : options_.hosts) options.hosts.insert(lower_case(host));
    return options;
  }

  asio::awaitable<void> accept_all(Acceptor& acceptor, const Listener& listener) {
    for (;;) {
      auto [failed, socket] = co_await acceptor.async_accept(kAwait);
      if (failed == asio::error::operation_aborted || state_.is_stopping) co_return;
      if (failed) {
        // Most often no descriptor is left. Those who wait will still be there.
        asio::steady_timer pause(io_, 100ms);
        co_await pause.async_wait(kAwait);
        continue;
      }
      const std::size_t most = listener.is_unix ? kGuestsMost : kGuestsMost - kLocalGuests;
      if (!has_room(state_.guests, most)) continue;
      const Peer peer = peer_of(socket.native_handle(), listener);
      asio::co_spawn(io_,
                     serve_connection(state_, std::move(socket), peer, listener.is_unix ? nullptr : tls_),
                     [this](const std::exception_ptr&) { end_if_done(); });
    }
  }

  asio::awaitable<void> heed_signals() {
    while (!has_ended_) {
      const auto [failed, number] = co_await signals_.async_wait(kAwait);
      if (failed) co_return;
      if (number == SIGHUP) {
        reload();
        continue;
      }
      if (state_.is_stopping) io_.stop();  // Asked twice: at once.
      stop();
    }
  }

  bool look_for_tokens() {
    const auto now = std::chrono::steady_clock::now();
    if (looked_at_tokens_ && now - *looked_at_tokens_ < 1s) return false;
    looked_at_tokens_ = now;
    return state_of_tokens() != tokens_read_ && take_tokens();
  }

  bool take_tokens() {
    tokens_read_ = state_of_tokens();  // Before it is read: what is written meanwhile is found the next time.
    auto tokens = read_tokens();
    if (!tokens) {
      log_.say(LogLevel::warning, "kept the old tokens: " + tokens.error().message);
      return false;
    }
    state_.door.use(*std::move(tokens));
    turn_out(state_, true);
    log_.say(LogLevel::info, "read the tokens again");
    return true;
  }

  void reload() {
    notify("RELOADING=1");
    take_tokens();
    if (auto tls = read_certificates(options_); tls && *tls) {
      tls_ = *std::move(tls);
      log_.say(LogLevel::info, "read the certificates again");
    } else if (!tls) {
      log_.say(LogLevel::warning, "kept the old certificates: " + tls.error().message);
    }
    log_.say(
        LogLevel::info,
        "addresses, the store and settings from files and the environment stay as they are until a restart; "
        "settings in the store count within seconds");
    notify("READY=1");
  }

  // Whoever waits is told to ask again; what is being done is done and answered.
  void stop() {
    if (state_.is_stopping) return;
    state_.is_stopping = true;
    notify("STOPPING=1");
    log_.say(LogLevel::info, "stopping");
    // Before nobody listens there any more: then the place may be another daemon's.
    for (Listener& listener : listeners_) listener.file = {};
    for (Acceptor& acceptor : acceptors_) {
      boost::system::error_code ignored;
      std::ignore = acceptor.close(ignored);
    }
    upkeep_.stop();
    for (asio::steady_timer* sleeper : state_.sleepers) sleeper->cancel();
    std::size_t unread = 0;
    for (Guest& guest : state_.guests) {
      // Whoever read its stream would have it by now. It goes on behind the last event it has, elsewhere.
      unread += guest.is_told ? 1 : 0;
      if (guest.is_idle || guest.is_told) guest.close();
    }
    if (unread > 0) log_.say(LogLevel::info, fmt::format("cut {} streams that nobody reads", unread));
    after(kArrivalTime, [this] {
      cut_late();
      after(kStopTime - kArrivalTime, [this] { io_.stop(); });
    });
    end_if_done();
  }

  void cut_late() {
    std::size_t late = 0;
    for (Guest& guest : state_.guests) {
      if (!guest.is_asking) continue;
      guest.close();
      ++late;
    }
    if (late > 0) log_.say(LogLevel::info, fmt::format("cut {} requests that did not arrive", late));
  }

  // Instead of what was to be done later before.
  void after(std::chrono::milliseconds time, std::function<void()> then) {
    deadline_.expires_after(time);
    deadline_.async_wait([then = std::move(then)](const boost::system::error_code& failed) {
      if (!failed) then();
    });
  }

  void end_if_done() {
    if (!state_.is_stopping || !state_.guests.empty()) return;
    if (upkeep_.is_running()) {
      // A moment, so that all is taken apart where nothing is in the way of it.
      after(kUpkeepTime, [this] { io_.stop(); });
      return;
    }
    has_ended_ = true;
    deadline_.cancel();
    signals_.cancel();
    guard_.reset();
  }

  const ServeOptions options_;
  Log& log_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{io_.get_executor()};
  std::optional<FileState> tokens_read_;  // None: not since the start.
  std::optional<std::chrono::steady_clock::time_point> looked_at_tokens_;
  asio::signal_set signals_{io_, SIGTERM, SIGINT, SIGHUP};
  asio::steady_timer deadline_{io_};
  bool has_ended_ = false;
  std::vector<Listener> listeners_;
  std::list<Acceptor> acceptors_;
  std::shared_ptr<asio::ssl::context> tls_;
  ServerState state_;
  Upkeep upkeep_;
};

Result<std::vector<Listener>> open_listeners(const ServeOptions& options, const Services& services) {
  auto listeners = passed_listeners();
  if (!listeners) return listeners;
  std::vector<std::string> wanted = options.listen;
  if (wanted.empty() && listeners->empty()) wanted.push_back("unix:" + default_socket(services.store_url()));
  for (const std::string& text : wanted) {
    const auto address = read_address(text);
    if (!address) return fail(address.error());
    auto opened = listen_on(*address);
    if (!opened) return opened;
    for (Listener& one : *opened) listeners->push_back(std::move(one));
  }
  return listeners;
}

// Where commands of this machine look for whoever serves their store, besides what was asked for. They do
// without if that cannot be.
void listen_in_store(const Services& services, Log& log, std::vector<Listener>& listeners) {
  const std::string socket = served_socket(services.store_url());
  const auto is_it = [&](const Listener& one) { return one.file.path() == socket; };
  if (socket.empty() || std::ranges::any_of(listeners, is_it)) return;
  auto opened = listen_on({.text = "unix:" + socket, .path = socket, .host = {}, .port = {}});
  if (opened) {
    for (Listener& one : *opened) listeners.push_back(std::move(one));
  } else {
    log.say(LogLevel::warning, opened.error().message + " Commands open the store themselves.");
  }
}

// Whoever can reach a TCP port can be anybody.
Result<void> check_doors(const ServeOptions& options, const std::vector<Listener>& listeners,
                         const Tokens& tokens) {
  for (const Listener& listener : listeners) {
    if (listener.is_unix || !tokens.empty() || !options.client_ca.empty()) continue;
    if (options.open_to_loopback && listener.is_loopback) continue;
    return fail(
        Code::config_error,
        fmt::format(
            "{} would be open to everybody who can reach it. Make a token (lease token create --agent NAME), "
            "or "
            "ask for certificates (--client-ca){}.",
            listener.text,
            listener.is_loopback ? ", or let every user of this machine in (--open-to-loopback)" : ""));
  }
  return {};
}

}  // namespace

Result<int> serve(const ServeOptions& options) {
  raise_descriptor_limit();
  ::signal(SIGPIPE, SIG_IGN);
  Log log(options.json_log, options.verbose);
  auto services = Services::open(
      options, [&log](const LogRecord& record) { log.about_lease(record); },
      [&log](LogLevel level, const std::string& message) { log.say(level, message); });
  if (!services) return fail(services.error());
  for (const std::string& note : (*services)->notes()) log.say(LogLevel::warning, note);
  auto remembered = memory_file((*services)->store_url());
  if (!remembered) return fail(remembered.error());
  auto memory = StoreMemory::open(**services, *std::move(remembered));
  if (!memory) return fail(memory.error());
  if (const std::string why = (*memory)->refusal(); !why.empty()) log.say(LogLevel::warning, why);
  auto tokens = read_tokens();
  if (!tokens) return fail(tokens.error());
  auto tls = read_certificates(options);
  if (!tls) return fail(tls.error());
  std::optional<HeldSignals> held(std::in_place);
  auto listeners = open_listeners(options, **services);
  if (!listeners) return fail(listeners.error());
  if (auto closed = check_doors(options, *listeners, **tokens); !closed) return fail(closed.error());
  listen_in_store(**services, log, *listeners);
  {
    Server server(options, **services, **memory, log, *std::move(listeners), *std::move(tokens),
                  *std::move(tls));
    held.reset();
    server.run();
  }
  if (auto saved = (*memory)->save({}); !saved) log.say(LogLevel::warning, saved.error().message);
  return 0;
}

}  // namespace leasehold::daemon
