// From a request to its response: which route, who may, what the workers have to do for it, and waiting that
// costs no thread.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/async_result.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "daemon/events.h"
#include "daemon/mcp.h"
#include "daemon/mcp_sessions.h"
#include "daemon/openapi.h"
#include "daemon/routes.h"
#include "daemon/server_state.h"
#include "daemon/waiting.h"
#include "util/utf8.h"
#include "util/word_list.h"

namespace leasehold::daemon {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kEventStream = "text/event-stream";

// How soon a client that listens hears of what another process wrote.
constexpr Duration kLookAgain = 100ms;

// How soon it is noticed that a client hung up behind a request that it sent ahead.
constexpr Duration kLookBehind = 1s;

// Longer than anybody sleeps before it looks again.
constexpr Duration kLongSleep = 1h;

// They sleep most of the time.
constexpr std::size_t kPatientThreads = 4;

// Each may have all there is in memory.
constexpr std::size_t kListingThreads = 2;

// Redis and etcd take many calls at once, and group none.
constexpr std::size_t kThreadsForOthers = 16;

bool has_unread(int fd) {
  char byte = 0;
  return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

Worker::Options options_of(ServerState& server, bool writes) {
  const bool embedded = server.services.is_embedded();
  Worker::Options options = {
      .threads = embedded ? 1 : kThreadsForOthers,
      .together = embedded && writes,
      .answer_by = [&io = server.io](std::function<void()> answers) { asio::post(io, std::move(answers)); }};
  if (writes) {
    options.answer_by = [&server](std::function<void()> answers) {
      asio::post(server.io, [&server, answers = std::move(answers)] {
        ++server.batches;
        answers();
      });
    };
    options.begin = [&log = server.log] { log.begin_batch(); };
    options.end = [&log = server.log](bool kept) { log.end_batch(kept); };
    options.report = [&metrics = server.metrics](std::size_t jobs, std::chrono::nanoseconds took) {
      metrics.committed(jobs, took);
    };
  }
  return options;
}

Worker::Options lister_options(ServerState& server) {
  Worker::Options options = options_of(server, false);
  options.threads = kListingThreads;
  return options;
}

// Each call commits by itself: a group would wait for whoever sleeps in it.
Worker::Options patient_options(ServerState& server) {
  Worker::Options options = options_of(server, true);
  options.threads = kPatientThreads;
  options.together = false;
  return options;
}

Response stopping() {
  return problem({Code::unavailable, "The server is stopping. Nothing was done; ask again soon."});
}

// For a client that can still read it: it has only said that it sends no more.
Response hung_up() {
  return problem({Code::unavailable,
                  "The connection was closed by its client, for sending at least, and so the wait was given "
                  "up. Keep it open in both directions while waiting."});
}

asio::awaitable<Response> wait(ServerState& server, const Work& work, int socket) {
  Waiting waiting(steps_of(work.waiter));
  const auto until = std::chrono::steady_clock::now() + work.patience;
  const std::vector<int> fds(1, socket);
  Response response;
  SameRequests::Part part(server.same_requests, work.same_as);
  const std::vector<int> nothing;
  bool has_slept = false;
  while (part.is_given_up()) co_await sleep_on(server, nothing, kLookAgain);
  for (;;) {
    const Result<void> kept = co_await waiting.look(server);
    if (!kept) {
      response = problem(kept.error());
      break;
    }
    const bool is_gone = has_left(socket);
    // What was granted to one who waited, and has gone meanwhile, would be held for nobody.
    if (waiting.is_done() && (!is_gone || !has_slept || work.keeps_place)) {
      response = work.respond();
      if (response.status < 300) part.note_told();
      break;
    }
    Duration at_most = kLongSleep;
    const bool leaves = server.is_stopping || is_gone;
    if (work.keeps_place) {
      at_most = std::chrono::ceil<Duration>(until - std::chrono::steady_clock::now());
      if (leaves || at_most <= Duration::zero()) {
        response = work.respond();
        break;
      }
    } else if (leaves) {
      response = server.is_stopping ? stopping() : hung_up();
      if (!part.may_give_up()) break;
      part.begin_giving_up();
      const Result<void> gave_up = co_await waiting.give_up(server);
      part.end_giving_up();
      if (!gave_up) response = problem(gave_up.error());
      break;
    }
    co_await waiting.sleep(server, fds, at_most);
    has_slept = true;
  }
  co_return response;
}

asio::awaitable<Response> perform(ServerState& server, Work& work, int socket) {
  Response response;
  const auto until = std::chrono::steady_clock::now() + work.patience;
  const std::vector<int> fds(1, socket);
  bool is_empty = false;
  // What is only read is put where it is read: a page of ten thousand rows takes its time.
  Task read = [&] {
    work.call();
    is_empty = work.is_empty && work.is_empty();
    if (!is_empty) response = work.respond();
  };
  Task& call = work.only_reads ? read : work.call;
  Worker& worker = work.is_long      ? server.lister
                   : work.only_reads ? server.reader
                   : work.sleeps     ? server.patient
                                     : server.writer;
  while (call) {
    const std::uint64_t before = server.batches;
    const Result<void> kept = co_await run_on(worker, call);
    if (!kept) {
      response = problem(kept.error());
      co_return response;
    }
    if (!is_empty || server.is_stopping || has_left(socket)) break;
    if (std::chrono::steady_clock::now() >= until) break;
    if (before == server.batches) co_await sleep_on(server, fds, kLookAgain);
  }
  if (work.only_reads && !is_empty) co_return response;
  if (work.is_much && work.is_much()) {
    Task put = [&] { response = work.respond(); };
    co_await run_on(server.lister, put);
  } else {
    response = work.respond();
  }
  co_return response;
}

std::string_view outcome_of(int status) {
  if (status < 202) return "granted";
  if (status == 202) return "queued";
  return status < 500 ? "refused" : "failed";
}

// Asks nobody: who looks often must not be a burden.
Response metrics(ServerState& server) {
  server.standing.connections = server.guests.size();
  Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = server.metrics.text(server.standing);
  return response;
}

Response not_allowed(const std::string& allowed) {
  Response response = problem(405, "method_not_allowed", "This can be done there: " + allowed);
  response.headers.emplace_back("Allow", allowed);
  return response;
}

// What needs no manager: no such route, or not for this one.
std::optional<Response> turned_away(const Request& request, const Match& found) {
  if (found.route == nullptr) {
    if (found.allowed.empty())
      return problem(404, "no_such_route", "There is nothing at " + request.path + ". See: /openapi.json");
    return not_allowed(found.allowed);
  }
  if (request.principal.role >= found.route->needs) return std::nullopt;
  return problem(403, "forbidden",
                 fmt::format("{} {} ({}) needs the role {}, and this credential has {}. Use one that has it: "
                             "lease token create --role {} makes it.",
                             request.method, request.path, found.route->summary, word(found.route->needs),
                             word(request.principal.role), word(found.route->needs)));
}

// git-lfs can be given an address, but no parameters.
std::string workspace_of(const Request& request, const Match& found) {
  const bool is_lfs = found.route->pattern.starts_with("/lfs/");
  return is_lfs ? found.captured.front() : request.parameter("workspace").value_or("");
}

// One that is passed over would widen what is asked for: agent=bob lists everybody's. git-lfs sends more than
// it needs (refspec), and later versions may again.
Result<void> check_parameters(const Request& request, const Route& route) {
  if (route.pattern.starts_with("/lfs/")) return {};
  std::vector<std::string_view> known = words_of(route.parameters);
  known.insert(known.end(), {"workspace", "profile"});
  for (const auto& [name, value] : request.query) {
    if (std::ranges::find(known, name) == known.end()) {
      return fail(Code::invalid_argument, fmt::format("There is no parameter {} here. There are: {}.",
                                                      in_quotes(name), fmt::join(known, ", ")));
    }
    const bool is_switch = name == "oldest" || name == "dead_owners" || name == "repair";
    constexpr std::string_view kPositions[] = {"", "true", "1", "false", "0"};
    if (is_switch && std::ranges::find(kPositions, value) == std::end(kPositions))
      return fail(Code::invalid_argument,
                  fmt::format("{} is {}; it may be: true, false.", name, in_quotes(value)));
  }
  return {};
}

// What the route wants done; or the response, if that is all.
Result<Work> prepare(ServerState& server, const Request& request, const Match& found,
                     std::shared_ptr<LeaseManager>& manager) {
  // Whoever sends it relies on it: what cannot heed it does nothing.
  if (found.route->method != "GET" && !heeds_if_match(*found.route) && !request.header("if-match").empty())
    return fail(Code::invalid_argument,
                "If-Match is about one lease, and this is not. Use the routes of one: /v1/leases/ID/...");
  if (auto checked = check_parameters(request, *found.route); !checked) return fail(checked.error());
  if (found.route->grants) {
    if (std::string why = server.withheld(); !why.empty()) return fail(Code::retry_later, std::move(why));
  }
  const std::string workspace = server.services.name_of(workspace_of(request, found));
  const auto opened = server.services.manager(workspace, request.parameter("profile").value_or(""),
                                              request.header("lease-settings"));
  if (!opened) return fail(opened.error());
  manager = *opened;
  Exchange exchange = {.services = server.services,
                       .request = request,
                       .manager = *manager,
                       .workspace = workspace,
                       .captured = found.captured};
  Work work = found.route->handle(exchange);
  if (work.holder) watch_process(server, *work.holder, manager);
  return work;
}

Response health() { return json_response(200, {{"status", "ok"}}); }
// Why, only the log says: whoever asks may be anybody.
Response readiness(bool reads, bool writes) {
  if (reads && writes) return json_response(200, {{"status", "ready"}});
  return problem({Code::unavailable, reads ? "The store takes no writes. See the server's log."
                                           : "The store cannot be read. See the server's log."});
}

}  // namespace

ServerState::ServerState(asio::io_context& loop, Services& all, Log& lines, const Door& entrance,
                         StoreMemory* remembered)
    : io(loop),
      services(all),
      log(lines),
      memory(remembered),
      door(entrance),
      writer(all.store(), options_of(*this, true)),
      reader(all.store(), options_of(*this, false)),
      lister(all.store(), lister_options(*this)),
      patient(all.store(), patient_options(*this)),
      mcp_sessions(std::make_shared<McpSessions>()) {}

asio::awaitable<Result<void>> run_on(Worker& worker, Task& call, Task& undo) {
  return asio::async_initiate<const asio::use_awaitable_t<>, void(Result<void>)>(
      [](auto handler, Worker* by, Task* job, Task* back) {
        by->submit({.call = *job,
                    .undo = *back,
                    .done = [handler = std::move(handler)](const Result<void>& committed) mutable {
                      std::move(handler)(committed);
                    }});
      },
      asio::use_awaitable, &worker, &call, &undo);
}

asio::awaitable<Result<void>> run_on(Worker& worker, Task& call) {
  static Task nothing;
  return run_on(worker, call, nothing);
}

asio::awaitable<void> sleep_on(ServerState& server, const std::vector<int>& fds, Duration at_most) {
  // The next request, which has its time; but it hides from us that its client hangs up.
  const bool hides = std::ranges::any_of(fds, has_unread);
  auto timer =
      std::make_shared<asio::steady_timer>(server.io, hides ? std::min(at_most, kLookBehind) : at_most);
  std::vector<asio::posix::stream_descriptor> watched;
  for (const int fd : fds) {
    if (has_unread(fd)) continue;
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) continue;
    watched.emplace_back(server.io, copy);
    watched.back().async_wait(asio::posix::stream_descriptor::wait_read,
                              [timer](const boost::system::error_code& problem) {
                                if (!problem) timer->cancel();
                              });
  }
  server.sleepers.push_back(timer.get());
  const auto place = std::prev(server.sleepers.end());
  boost::system::error_code ignored;
  co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  server.sleepers.erase(place);
}

bool has_left(int socket) {
  pollfd state = {socket, POLLRDHUP, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

asio::awaitable<void> probe_writes(ServerState& server) {
  Services& services = server.services;
  if (!services.health().begin_probe()) co_return;
  Result<void> written;
  Task job = [&] { written = rewrite_token(services.store(), services.default_workspace()); };
  const Result<void> kept = co_await run_on(server.writer, job);
  services.health().end_probe(kept ? written : kept);
}

asio::awaitable<bool> respond_to_anybody(ServerState& server, const Request& request, Response& response) {
  constexpr std::string_view kOnlyRead[] = {"/healthz", "/metrics", "/openapi.json", "/readyz"};
  if (std::ranges::find(kOnlyRead, request.path) != std::end(kOnlyRead) && request.method != "GET" &&
      request.method != "HEAD") {
    response = not_allowed("GET, HEAD");
    co_return true;
  }
  if (request.path == "/healthz") {
    response = health();
    co_return true;
  }
  if (request.path == "/openapi.json") {
    response.body = openapi_document();
    co_return true;
  }
  if (request.path != "/readyz") co_return false;
  Result<void> ready;
  Task job = [&ready, &services = server.services] {
    ready = services.store().view({.workspace = services.default_workspace()},
                                  [](View&) -> Result<void> { return {}; });
  };
  co_await run_on(server.reader, job);
  // While they fail, upkeep finds out.
  if (ready && !server.services.health().failure()) co_await probe_writes(server);
  const bool writes = !server.services.health().failure();
  response = server.is_stopping ? stopping() : readiness(ready.has_value(), writes);
  co_return true;
}

asio::awaitable<void> respond(ServerState& server, const Request& request, int socket, Response& response,
                              std::unique_ptr<Teller>& stream) {
  if (request.path == "/metrics") {
    response = metrics(server);
    co_return;
  }
  if (request.path == "/mcp") {
    co_await respond_mcp(server, request, socket, response, stream);
    co_return;
  }
  const auto began = std::chrono::steady_clock::now();
  const Match found = match(request);
  if (auto refused = turned_away(request, found)) {
    response = *std::move(refused);
    co_return;
  }
  std::shared_ptr<LeaseManager> manager;  // Kept until the response is there.
  Result<Work> work = prepare(server, request, found, manager);
  if (!work) {
    response = problem(work.error());
    co_return;
  }
  if (work->events && request.method == "HEAD") {
    response.headers.emplace_back("Content-Type", kEventStream);
    co_return;
  }
  if (work->events) {
    stream = std::make_unique<EventTeller>(server, manager, *work->events);
    co_return;
  }
  const std::shared_ptr<Waiter> waiter = work->waiter;
  if (waiter) {
    response = co_await wait(server, *work, socket);
  } else {
    response = co_await perform(server, *work, socket);
  }
  // What was refused has left nothing there; what failed may have.
  const bool is_refused = response.status >= 400 && response.status < 500;
  if (found.route->grants && !is_refused)
    server.services.note_taken(server.services.name_of(workspace_of(request, found)),
                               request.parameter("profile").value_or(""));
  const auto took = std::chrono::steady_clock::now() - began;
  server.metrics.answered(found.route->name, response.status, took);
  if (waiter && !work->keeps_place)
    server.metrics.acquired(outcome_of(response.status), took, waiter->waited());
}

}  // namespace leasehold::daemon
