#include "scenarios/served.h"

#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <thread>

#include "daemon/connection.h"
#include "daemon/tokens.h"
#include "support/temp_folder.h"

namespace leasehold::scenario {
namespace {

namespace asio = boost::asio;
using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

}  // namespace

struct ServedWorld::Parts {
  Parts(Store& store, Environment environment, const std::string& workspace, const Policy& policy)
      : services({.store = store,
                  .health = health,
                  .liveness = environment.liveness,
                  .url = "sqlite:",  // Calls share commits where the store can do that.
                  .default_workspace = workspace,
                  .make_manager = [&store, environment, policy](
                                      const std::string& name, const std::string&) -> Result<daemon::Served> {
                    return daemon::Served{std::make_unique<LeaseManager>(environment, store, name, policy),
                                          {}};
                  }}) {
    asio::co_spawn(io, accept_all(), asio::detached);
    thread = std::thread([this] { io.run(); });
    client = *open_http_client("http+unix:" + path, {.workspace = workspace, .profile = {}, .token = {}});
  }

  ~Parts() {
    client.reset();
    asio::post(io, [this] {
      state.is_stopping = true;
      acceptor.close();
      for (daemon::Guest& guest : state.guests) guest.close();
      guard.reset();
    });
    thread.join();
  }

  asio::awaitable<void> accept_all() {
    const daemon::Peer peer = {.is_unix = true, .uid = ::geteuid(), .certificate = {}};
    while (!state.is_stopping) {
      auto [failed, socket] = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
      if (failed) co_return;
      asio::co_spawn(io, daemon::serve_connection(state, std::move(socket), peer, nullptr), asio::detached);
    }
  }

  TempFolder folder;
  const std::string path = folder.path() + "/socket";
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard{io.get_executor()};
  daemon::WriteHealth health{[](LogLevel, const std::string&) {}};
  daemon::Services services;
  daemon::Log log{false, false};
  daemon::ServerState state{
      io, services, log,
      daemon::Door({.uid = ::geteuid(), .hosts = {}}, std::make_shared<const daemon::Tokens>())};
  Acceptor acceptor{io,
                    asio::generic::stream_protocol::endpoint(asio::local::stream_protocol::endpoint(path))};
  std::thread thread;
  std::shared_ptr<HttpClient> client;
};

ServedWorld::ServedWorld(Store& store, Environment environment, const std::string& workspace,
                         const Policy& policy)
    : parts_(std::make_unique<Parts>(store, environment, workspace, policy)) {}
ServedWorld::~ServedWorld() = default;

HttpClient& ServedWorld::client() { return *parts_->client; }
void ServedWorld::refresh_moment() { parts_->services.refresh_moment(); }

}  // namespace leasehold::scenario
