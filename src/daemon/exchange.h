// One request on its way to its response. A route reads the request and says what to do: what to ask the
// store (on a worker's thread) and how to put the answer (on the loop's).
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/message.h"
#include "daemon/services.h"
#include "leasehold/client.h"
#include "manager/waiter.h"

namespace leasehold::daemon {

// A client that wants to hear what happens.
struct EventStream {
  std::uint64_t after = 0;
  bool is_resumed = false;  // It said where it was.
};

struct Work {
  std::function<void()> call = {};  // On a worker. May run twice (Job).
  bool only_reads = false;
  bool sleeps = false;  // The call makes several of the store, and pauses between them.
  // A request that waits: look() is the call, again and again, until it has an answer.
  std::shared_ptr<Waiter> waiter = {};
  // The waiter keeps its place when its time here is over or its client leaves, and is told how it stands.
  bool keeps_place = false;
  // With nothing to tell yet, ask again until this long has passed (a long poll).
  std::function<bool()> is_empty = {};
  Duration patience{};
  std::optional<EventStream> events = {};
  // Whose process, if it is one of this machine, what is granted hangs on.
  std::optional<Holder> holder = {};
  std::function<Response()> respond = {};  // On the loop, when the above is done.
};

struct Exchange {
  Services& services;
  const Request& request;
  LeaseManager& manager;
  std::string workspace;
  std::vector<std::string> captured;  // What stands for {...} in the route's pattern.

  bool may(Role role) const { return request.principal.role >= role; }
};

// Nothing to ask anybody.
inline Work answer_with(Response response) {
  return {.respond = [response = std::move(response)] { return response; }};
}
inline Work refuse(const Error& error) { return answer_with(problem(error)); }

// Asks, then puts the answer. `render` makes a response of the value; an error is a problem.
template <class Ask, class Render>
Work ask(Exchange& exchange, Ask ask, Render render, bool only_reads = false) {
  using Answer = std::invoke_result_t<Ask, LeaseManager&>;
  auto answer = std::make_shared<std::optional<Answer>>();
  LeaseManager& manager = exchange.manager;
  return {.call = [answer, &manager, ask = std::move(ask)] { answer->emplace(ask(manager)); },
          .only_reads = only_reads,
          .respond = [answer, render = std::move(render)]() -> Response {
            return **answer ? render(***answer) : problem((*answer)->error());
          }};
}
template <class Ask, class Render>
Work look(Exchange& exchange, Ask question, Render render) {
  return ask(exchange, std::move(question), std::move(render), true);
}

// The body as JSON, {} if there is none. Error: invalid_argument.
Result<boost::json::value> body_of(const Request& request);

// Binds who asks to the credential: an agent acts for itself only, and only the kernel's word counts about
// processes. Error: not_owner.
Result<void> bind(const Principal& principal, Caller& caller);
Result<void> bind(const Exchange& exchange, Caller& caller);

// Other machines' paths are only text here: made keys, as everybody spells them. Error: invalid_path.
Result<void> make_keys(std::vector<std::string>& paths);
Result<void> make_keys(std::vector<WantedPath>& paths);

// If-Match with a token; nothing: none was given. Error: invalid_argument.
Result<std::optional<Token>> token_from_if_match(const Request& request);

// A lease without end is for operators to ask for: others' TTL becomes one that the cap cuts.
void forbid_endless(const Exchange& exchange, std::optional<Duration>& ttl);

// The number in a query's parameter. Error: invalid_argument.
Result<std::optional<std::uint64_t>> number_from(const Request& request, const std::string& name);

}  // namespace leasehold::daemon
