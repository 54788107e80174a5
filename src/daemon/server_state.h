// What the parts of the server share. All of it belongs to the loop's thread, but for the workers.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "daemon/door.h"
#include "daemon/exchange.h"
#include "daemon/guests.h"
#include "daemon/log.h"
#include "daemon/metrics.h"
#include "daemon/same_request.h"
#include "daemon/services.h"
#include "daemon/store_memory.h"
#include "daemon/worker.h"

namespace leasehold::daemon {

namespace asio = boost::asio;

class McpSessions;

// Some owners, by where they have something.
using OwnersThere = std::map<std::weak_ptr<LeaseManager>, std::set<Owner>, std::owner_less<>>;

struct ServerState {
  // Without a memory nothing is found to be lost.
  ServerState(asio::io_context& loop, Services& all, Log& lines, const Door& entrance,
              StoreMemory* remembered = nullptr);

  // Why nothing may be granted: the store has lost what may still be relied on. Empty: it has not.
  std::string withheld() const { return memory == nullptr ? "" : memory->refusal(); }

  asio::io_context& io;
  Services& services;
  Log& log;
  StoreMemory* const memory;
  Door door;
  Metrics metrics;
  Worker writer;
  Worker reader;
  Worker lister;   // For what may look at everything: who only wants to know of a grant does not wait for it.
  Worker patient;  // For what sleeps between its calls.

  // Reads the tokens again if their file is another one than before. Returns whether it did; at most once a
  // second it is looked at. Empty: they stay.
  std::function<bool()> look_for_tokens;

  bool is_stopping = false;
  // Clients of this machine whose death ends leases, and where they have any.
  struct Watched {
    asio::posix::stream_descriptor death;
    OwnersThere owners;
  };
  std::map<Process, Watched> watched;
  std::list<Guest> guests;
  SameRequests same_requests;
  std::uint64_t batches = 0;   // Rises with whatever was written here.
  Metrics::Standing standing;  // As it was counted last.
  // Wakes all that wait, when there is nothing to wait for any more.
  std::list<asio::steady_timer*> sleepers;
  std::shared_ptr<McpSessions> mcp_sessions;
};

// Has the worker do it. Ends on the loop's thread, after the commit.
//
// By reference, and so from a variable: GCC 12 destroys twice what an expression with co_await makes on the
// way. For the same reason coroutines here return variables, and take no lists in braces.
using Task = std::function<void()>;
asio::awaitable<Result<void>> run_on(Worker& worker, Task& call);
asio::awaitable<Result<void>> run_on(Worker& worker, Task& call, Task& undo);

// Sleeps until one of the descriptors can be read, so much time has passed, or the server stops.
asio::awaitable<void> sleep_on(ServerState& server, const std::vector<int>& fds, Duration at_most);

// Finds out whether the store takes writes, unless that is known from just now.
asio::awaitable<void> probe_writes(ServerState& server);

// What everybody may ask, known or not. False: it is something else.
asio::awaitable<bool> respond_to_anybody(ServerState& server, const Request& request, Response& response);

// A response that comes piece by piece: Server-Sent Events.
class Teller {
 public:
  Teller() = default;
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;
  virtual ~Teller() = default;

  // The next text to send. Empty: nothing; ask again. False: that was all.
  virtual asio::awaitable<bool> next(int socket, std::string& text) = 0;
  // Nobody listens any more, or the server stops.
  virtual asio::awaitable<void> hang_up() { co_return; }
};

// The response to a request; unless it is a stream, which `stream` then tells.
asio::awaitable<void> respond(ServerState& server, const Request& request, int socket, Response& response,
                              std::unique_ptr<Teller>& stream);

// Whether the other end has hung up.
bool has_left(int socket);

// Ends what these have, or wait for, and is over: their processes are dead.
void reclaim(ServerState& server, const OwnersThere& owners);

// Watches a process of this machine from now on: its death ends its leases there at once.
void watch_process(ServerState& server, const Holder& holder, const std::shared_ptr<LeaseManager>& manager);

}  // namespace leasehold::daemon
