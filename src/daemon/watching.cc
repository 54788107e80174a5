// Clients of this machine that die, noticed by the kernel's word and not by the end of their leases' time.
#include <tuple>

#include "daemon/server_state.h"

namespace leasehold::daemon {
namespace {

// Each takes a descriptor. Beyond that, and where the kernel cannot tell, time ends leases, or whoever wants
// them.
constexpr std::size_t kWatchedMost = 4'096;

}  // namespace

void reclaim(ServerState& server, const OwnersThere& owners) {
  for (const auto& [known, there] : owners) {
    const auto manager = known.lock();
    if (!manager) continue;  // Nobody has anything there.
    // Should it fail, what is over is found again when the leases are counted.
    server.writer.submit({.call = [manager, there] { std::ignore = manager->reclaim(there); },
                          .done = [](const Result<void>&) {}});
  }
}

void watch_process(ServerState& server, const Holder& holder, const std::shared_ptr<LeaseManager>& manager) {
  if (!holder.process) return;
  const Process& process = *holder.process;
  if (const auto known = server.watched.find(process); known != server.watched.end()) {
    known->second.owners[manager].insert(holder.owner);
    return;
  }
  if (server.is_stopping || server.watched.size() >= kWatchedMost) return;
  const int fd = server.services.liveness().watch(process);
  if (fd < 0) return;
  ServerState::Watched& watched =
      server.watched
          .emplace(process, ServerState::Watched{asio::posix::stream_descriptor(server.io, fd),
                                                 {{manager, {holder.owner}}}})
          .first->second;
  watched.death.async_wait(asio::posix::stream_descriptor::wait_read,
                           [&server, process](const boost::system::error_code& failed) {
                             if (failed) return;
                             const auto ended = server.watched.extract(process);
                             if (!ended.empty()) reclaim(server, ended.mapped().owners);
                           });
}

}  // namespace leasehold::daemon
