// Something that is asked of the store again and again until it has an answer, without a thread that waits:
// it is asked on the writer, glanced at on the reader, and asleep on the loop of events in between. For /v1
// and for /mcp.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/server_state.h"
#include "manager/waiter.h"

namespace leasehold::daemon {

struct Steps {
  Task look;     // On the writer.
  Task undo;     // Before it runs again; see Job.
  Task give_up;  // On the writer; nothing stays queued.
  std::function<bool()> is_done;
  std::function<Waiter::Pause()> pause;  // What to sleep on before the next look.
  Task glance = {};                      // On the reader: may find the answer, and writes nothing.
  std::optional<Duration> wait = {};     // How long it was to wait at most.
};
Steps steps_of(const std::shared_ptr<Waiter>& waiter);

// Belongs to the loop's thread.
class Waiting {
 public:
  explicit Waiting(Steps steps) : steps_(std::move(steps)) {}

  bool is_done() const { return steps_.is_done(); }

  // Asks, if there is a reason to and no answer yet. Error: nothing that it learnt is to be believed.
  asio::awaitable<Result<void>> look(ServerState& server);
  // Until there is a reason to look again, one of these can be read, so much time has passed, or the server
  // stops. With a reason it glances first: a grant is there to be seen while the writer syncs what others
  // have asked for meanwhile.
  asio::awaitable<void> sleep(ServerState& server, const std::vector<int>& also, Duration at_most);
  asio::awaitable<Result<void>> give_up(ServerState& server);

 private:
  Steps steps_;
  bool is_due_ = true;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace leasehold::daemon
