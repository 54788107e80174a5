// Clients of this machine that die, noticed by the kernel's word and not by the end of their leases' time.
#include <fcntl.h>

#include <tuple>

#include "daemon/server_state.h"

namespace leasehold::daemon {
namespace {

// Each takes a descriptor. Beyond that, and where the kernel cannot tell, time ends leases, or whoever wants
// them.
constexpr std::size_t kWatchedMost = 4'096;

// Others get their turn between two steps: some milliseconds each.
constexpr std::size_t kReclaimedAtOnce = 200;

// What is left to do for the owners of one workspace.
struct Reclaim {
  std::shared_ptr<LeaseManager> manager;
  std::set<Owner> owners;
  Suspects left;
  Suspects some;  // What is being done.
};

// Should it fail, what is over is found again when the leases are counted.
void go_on(ServerState& server, const std::shared_ptr<Reclaim>& work) {
  if (work->left.empty() || server.is_stopping) return;
  work->some = take_some(work->left, kReclaimedAtOnce);
  server.writer.submit({.call = [work] { std::ignore = work->manager->reclaim(work->some); },
                        .done = [&server, work](const Result<void>&) { go_on(server, work); }});
}

}  // namespace

void reclaim(ServerState& server, const OwnersThere& owners) {
  for (const auto& [known, there] : owners) {
    const auto manager = known.lock();
    if (!manager) continue;  // Nobody has anything there.
    const auto work = std::make_shared<Reclaim>(Reclaim{.manager = manager, .owners = there});
    server.reader.submit(
        {.call = [work] { work->left = work->manager->suspects(work->owners).value_or(Suspects{}); },
         .done = [&server, work](const Result<void>&) { go_on(server, work); }});
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
  const auto end = server.services.liveness().watch(process);
  if (!end) return;
  const int own = ::fcntl(end->number(), F_DUPFD_CLOEXEC, 0);
  if (own < 0) return;
  ServerState::Watched& watched =
      server.watched
          .emplace(process, ServerState::Watched{asio::posix::stream_descriptor(server.io, own),
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
