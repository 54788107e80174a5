// Clients of this machine that die, noticed by the kernel's word and not by the end of their leases' time.
#include "daemon/server_state.h"

namespace leasehold::daemon {
namespace {

// Each takes a descriptor. Beyond that, and where the kernel cannot tell, time ends leases, or whoever wants
// them.
constexpr std::size_t kWatchedMost = 4'096;

void reclaim(ServerState& server) {
  for (const auto& [workspace, manager] : server.services.managers()) {
    server.writer.submit({.call = [swept = manager] { static_cast<void>(swept->sweep(true)); },
                          .done = [](const Result<void>&) {}});
  }
}

}  // namespace

void watch_process(ServerState& server, const Process& process) {
  if (server.is_stopping || server.watched.size() >= kWatchedMost || server.watched.contains(process)) return;
  const int fd = server.services.liveness().watch(process);
  if (fd < 0) return;
  auto [place, is_new] = server.watched.emplace(process, asio::posix::stream_descriptor(server.io, fd));
  place->second.async_wait(asio::posix::stream_descriptor::wait_read,
                           [&server, process](const boost::system::error_code& failed) {
                             if (failed) return;
                             server.watched.erase(process);
                             reclaim(server);
                           });
}

}  // namespace leasehold::daemon
