// One request on its way to its response. A route reads the request and says what to do: what to ask the
// store (on a worker's thread) and how to put the answer (there, too, if that may take long).
#pragma once

#include <algorithm>
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
  bool is_long = false;  // It may look at everything there is; only with only_reads.
  bool sleeps = false;   // The call makes several of the store, and pauses between them.
  // A request that waits: look() is the call, again and again, until it has an answer.
  std::shared_ptr<Waiter> waiter = {};
  std::string same_as = {};  // The same wherever it is asked for again (SameRequests); empty: nowhere.
  // The waiter keeps its place when its time here is over or its client leaves, and is told how it stands.
  bool keeps_place = false;
  // With nothing to tell yet, ask again until this long has passed (a long poll).
  std::function<bool()> is_empty = {};
  Duration patience{};
  std::optional<EventStream> events = {};
  // Whose process, if it is one of this machine, what is granted hangs on.
  std::optional<Holder> holder = {};
  // When the above is done. On the loop, unless it only reads or `is_much` says that it takes a while.
  std::function<Response()> respond = {};
  std::function<bool()> is_much = {};
};

// Rows and events in one response. The rest is had page by page.
inline constexpr std::uint64_t kPageMost = 10'000;
// So many take the loop longer to put than to hand over to another thread.
inline constexpr std::size_t kMuch = 100;

// Of a page, where so many are asked for. Nothing: as `otherwise` says; 0: as many as there may be.
inline std::uint64_t page_size(std::optional<std::uint64_t> asked, std::uint64_t otherwise) {
  return asked == 0u ? kPageMost : std::min(asked.value_or(otherwise), kPageMost);
}

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
  Work work = {.call = [answer, &manager, ask = std::move(ask)] { answer->emplace(ask(manager)); },
               .only_reads = only_reads,
               .respond = [answer, render = std::move(render)]() -> Response {
                 Response response = **answer ? render(***answer) : problem((*answer)->error());
                 answer->reset();  // What it is made of may be large, and is not needed while it is sent.
                 return response;
               }};
  if constexpr (std::is_same_v<Answer, Result<Outcomes>>)
    work.is_much = [answer] { return **answer && (**answer)->outcomes.size() > kMuch; };
  return work;
}
template <class Ask, class Render>
Work look(Exchange& exchange, Ask question, Render render) {
  return ask(exchange, std::move(question), std::move(render), true);
}
// The same for what may be about everything there is.
template <class Ask, class Render>
Work look_at_much(Exchange& exchange, Ask question, Render render) {
  Work work = look(exchange, std::move(question), std::move(render));
  work.is_long = true;
  return work;
}

// The body as JSON, {} if there is none. Error: invalid_argument.
Result<boost::json::value> body_of(const Request& request);

// Binds who asks to the credential: an agent acts for itself only, and only the kernel's word counts about
// processes. Error: not_owner.
Result<void> bind(const Principal& principal, Caller& caller);
Result<void> bind(const Exchange& exchange, Caller& caller);

// Other machines' paths are only text here: made keys, as everybody spells them. Error: invalid_path.
// Puts in who acts where nobody says it; a credential of one agent's signs as nobody else. Error: not_owner.
Result<void> sign(const Exchange& exchange, std::string& actor);

Result<void> make_keys(std::vector<std::string>& paths);
Result<void> make_keys(std::vector<WantedPath>& paths);

// If-Match with a token; nothing: none was given. Error: invalid_argument.
Result<std::optional<Token>> token_from_if_match(const Request& request);

// In which a credential has its locks of Git LFS, which are leases without end. Apart from what the same name
// does as an agent: who pushes is not who edits.
inline constexpr const char* kLfsSession = "git-lfs";

// A lease without end is for operators to ask for: others' TTL becomes one that the cap cuts.
void forbid_endless(const Exchange& exchange, std::optional<Duration>& ttl);

// The number in a query's parameter. Error: invalid_argument.
Result<std::optional<std::uint64_t>> number_from(const Request& request, const std::string& name);

}  // namespace leasehold::daemon
