#include "mcp/stdio.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <climits>
#include <list>
#include <utility>

#include "util/nudge.h"

namespace leasehold::mcp {
namespace {

// Far above any call of ours.
constexpr std::size_t kLineMax = std::size_t{4} << 20;
constexpr std::ptrdiff_t kWaitingMax = 64;  // Calls; and as many that listen.
constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;

// A request that is answered on a thread of its own.
struct Waiting {
  json::value id;
  bool listens = false;  // For as long as the client likes; else for the wait that it asked for.
  Nudge cancelled;
  bool is_answered = false;  // Too late to give it up; guarded by the connection's mutex for this.
  std::atomic<bool> is_done = false;
  std::jthread thread;
};

bool listens(const Message& message) { return message.method == "subscriptions/listen"; }

class Connection {
 public:
  Connection(Server& server, int in, int out, int stop) : server_(server), in_(in), out_(out), stop_(stop) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    for (Waiting& one : waiting_) one.cancelled.give();
    server_.hang_up();
  }

  void run() {
    while (is_open_ && !wait_for(in_, POLLIN).is_to_stop) {
      if (!take_input()) return;
    }
  }

 private:
  struct Ready {
    bool is_ready = false;
    bool is_to_stop = false;
  };
  // For either.
  Ready wait_for(int descriptor, short event) const {
    pollfd watched[] = {{descriptor, event, 0}, {stop_, POLLIN, 0}};
    while (::poll(watched, 2, -1) < 0) {
      if (errno != EINTR) return {.is_to_stop = true};
    }
    return {watched[0].revents != 0, watched[1].revents != 0};
  }

  // False: there will be no more.
  bool take_input() {
    char part[kReadAtOnce];
    const ssize_t count = ::read(in_, part, sizeof part);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    if (count == 0) return false;
    const std::size_t had = buffer_.size();
    buffer_.append(part, static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = buffer_.find('\n', had); end != std::string::npos;
         end = buffer_.find('\n', begin)) {
      take_line(std::string_view(buffer_).substr(begin, end - begin));
      begin = end + 1;
    }
    buffer_.erase(0, begin);
    if (buffer_.size() > kLineMax) {
      if (!is_skipping_) send(fault_reply(nullptr, {kParseError, "The message is too long."}));
      is_skipping_ = true;
      buffer_.clear();
    }
    return true;
  }

  void take_line(std::string_view line) {
    if (std::exchange(is_skipping_, false)) return;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    waiting_.remove_if([](const Waiting& one) { return one.is_done.load(); });
    auto message = read_message(line);
    if (!message) {
      send(fault_reply(message.error().id, message.error().fault));
    } else if (message->method == "notifications/cancelled") {
      if (const json::value* id = message->params.if_contains("requestId")) cancel(*id);
    } else if (!message->is_request()) {
      return;
    } else if (std::ranges::any_of(waiting_, [&](const Waiting& one) { return one.id == message->id; })) {
      // Nobody could tell their answers apart, or which of them is cancelled.
      send(fault_reply(message->id, {kInvalidRequest, "A request with this id runs already."}));
    } else if (!Server::may_wait(*message)) {
      if (auto answer = server_.answer(*message, {.notify = notify()})) send(*answer);
    } else if (std::ranges::count(waiting_, listens(*message), &Waiting::listens) >= kWaitingMax) {
      send(fault_reply(message->id, {kInternalError, "Too many such calls wait already. Cancel one."}));
    } else {
      start(*std::move(message));
    }
  }

  void start(Message message) {
    Waiting& one = waiting_.emplace_back();
    one.id = message.id;
    one.listens = listens(message);
    one.thread = std::jthread([this, &one, message = std::move(message)] {
      auto answer = server_.answer(message, {.cancelled = one.cancelled.fd(), .notify = notify()});
      const bool is_wanted = [&] {
        const std::lock_guard lock(answered_mutex_);
        one.is_answered = true;
        return !one.cancelled.wait(std::chrono::milliseconds(0));
      }();
      if (is_wanted && answer) send(*answer);
      // Nobody is told of what nobody waits for, and it is not kept.
      if (!is_wanted) server_.give_back(message.id);
      one.is_done = true;
    });
  }

  void cancel(const json::value& id) {
    {
      const std::lock_guard lock(answered_mutex_);
      for (Waiting& one : waiting_) {
        if (one.id == id && !one.is_answered) return one.cancelled.give();
      }
    }
    // Its answer and this crossed.
    server_.give_back(id);
  }

  Notify notify() {
    return [this](const json::object& message) { send(message); };
  }

  void send(const json::object& message) {
    const std::string line = json::serialize(message) + '\n';
    const std::lock_guard lock(mutex_);
    for (std::string_view rest = line; !rest.empty() && is_open_;) {
      // So much a pipe takes without blocking: a client that does not read must not keep us from stopping.
      if (!wait_for(out_, POLLOUT).is_ready) {
        is_open_ = false;
        return;
      }
      const ssize_t count = ::write(out_, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        is_open_ = false;
      } else {
        rest.remove_prefix(static_cast<std::size_t>(count));
      }
    }
  }

  Server& server_;
  const int in_;
  const int out_;
  const int stop_;
  std::string buffer_;  // What was read and is not a line yet.
  bool is_skipping_ = false;
  std::mutex mutex_;  // Lets one message out at a time.
  std::mutex answered_mutex_;
  std::atomic<bool> is_open_ = true;
  std::list<Waiting> waiting_;  // Last: threads end before what they use.
};

}  // namespace

void serve_lines(Server& server, int in, int out, int stop) { Connection(server, in, out, stop).run(); }

}  // namespace leasehold::mcp
