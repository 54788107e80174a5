// What the daemon's tests serve: a store in memory, with a manager for each workspace.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <exception>

#include "daemon/server_state.h"
#include "support/small_world.h"

namespace leasehold::daemon {

struct ServedWorld {
  SmallWorld world;
  int made = 0;  // Managers.
  WriteHealth health{[](LogLevel, const std::string&) {}};
  Services services{
      ServedStore{.store = *world.store,
                  .health = health,
                  .liveness = world.probe,
                  .url = "memory:",
                  .default_workspace = "here",
                  .make_manager = [this](const std::string& workspace, const std::string&) -> Result<Served> {
                    ++made;
                    return Served{std::make_shared<LeaseManager>(Environment{world.probe, world.random},
                                                                 *world.store, workspace, Policy{}),
                                  ""};
                  }}};
};

// The same with a loop of events.
struct RunningWorld : ServedWorld {
  // Runs on the loop until it is through.
  void run(asio::awaitable<void> work) {
    std::exception_ptr thrown;
    asio::co_spawn(io, std::move(work), [&](const std::exception_ptr& what) { thrown = what; });
    io.restart();
    io.run();
    if (thrown) std::rethrow_exception(thrown);
  }

  Log log{false, false};
  asio::io_context io;
  ServerState server{io, services, log, Door({}, nullptr)};
};

}  // namespace leasehold::daemon
