// Clients of this machine that die, noticed by the kernel's word and not by the end of their leases' time.
#include <tuple>

#include "daemon/server_state.h"

namespace leasehold::daemon {
namespace {

// Each takes a descriptor. Beyond that, and where the kernel cannot tell, time ends leases, or whoever wants
// them.
constexpr std::size_t kWatchedMost = 4'096;

void reclaim(ServerState& server, const ServerState::Watched& watched) {
  for (const auto& [known, owners] : watched.owners) {
    const auto manager = known.lock();
    if (!manager) continue;  // Nobody has anything there.
    server.writer.submit({.call = [manager, owners] { std::ignore = manager->reclaim(owners); },
                          .done = [](const Result<void>&) {}});
  }
}

}  // namespace

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
                             if (!ended.empty()) reclaim(server, ended.mapped());
                           });
}

}  // namespace leasehold::daemon
