#include <fmt/format.h>

#include "leasehold/until_released.h"
#include "scenarios/duration_text.h"
#include "scenarios/requesting.h"
#include "scenarios/rows.h"
#include "scenarios/verbs.h"

namespace leasehold::scenario {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPlainWait = 10min;  // Of `wait` without a time.

// `src/foo.ts+tests/foo.test.ts`: the first is asked for, and pairing adds the others for it.
void add_wanted(std::vector<WantedPath>& paths, const std::string& text) {
  const std::string source = text.substr(0, text.find('+'));
  const Scope scope = parse_scope(source);
  paths.push_back({.path = scope.path, .subtree = scope.subtree});
  for (std::size_t start = source.size(); start < text.size();) {
    const std::size_t end = std::min(text.find('+', start + 1), text.size());
    const Scope pair = parse_scope(text.substr(start + 1, end - start - 1));
    paths.push_back({.path = pair.path, .requested = false, .paired_with = {scope.path}, .rule = "test"});
    start = end;
  }
}

Answer answer_of(const Granted& granted, World& world) {
  Answer answer;
  for (const Lease& lease : granted.leases) add_row(answer, row_of("granted", lease, world));
  answer.head.pairs.push_back({"ttl_clamped", yes_or_no(granted.ttl_clamped)});
  answer.head.pairs.push_back({"replayed", yes_or_no(granted.replayed)});
  return answer;
}

Answer answer_of(const Queued& queued, World& world) {
  Answer answer = {.head = {"queued", {{"position", std::to_string(queued.position)}}}};
  const auto left = std::chrono::duration_cast<Duration>(queued.wait_until - queued.at);
  answer.head.pairs.push_back({"wait_left", to_text(left)});
  add_obstacles(answer, queued.blocked, world);
  return answer;
}

Answer answer_of(const Refused& refused, World& world) {
  Answer answer = scenario::answer_of(Error{refused.code, refused.message + " " + refused.next_command});
  add_obstacles(answer, refused.blocked, world);
  return answer;
}

Answer answer_of(const Result<AcquireAnswer>& result, World& world) {
  if (!result) return scenario::answer_of(result.error());
  Answer answer =
      std::visit([&](const auto& decision) { return answer_of(decision, world); }, result->decision);
  add_notices(answer, result->notices);
  return answer;
}

// Remembers the ticket, so that a later step finds it by its owner.
Answer asked(World& world, const Arguments& arguments, const AcquireRequest& request,
             const Result<AcquireAnswer>& result) {
  if (result) {
    if (const auto* queued = std::get_if<Queued>(&result->decision)) {
      world.remember_ticket(queued->ticket, arguments.first, request);
    }
  }
  return answer_of(result, world);
}

std::optional<Answer> acquire(World& world, const Arguments& arguments) {
  const AcquireRequest request = request_of(world, arguments);
  return asked(world, arguments, request, world.client().acquire(request));
}

std::optional<Answer> upgrade(World& world, const Arguments& arguments) {
  const AcquireRequest request = request_of(world, arguments);
  return asked(world, arguments, request, world.client().upgrade(request));
}

// Whose ticket it is and who asks for it may be two.
GroupId ticket_of(const World& world, const Arguments& arguments) {
  const std::string of = arguments.text("of");
  return world.ticket(of.empty() ? arguments.first : of, arguments.scopes()).id;
}

std::optional<Answer> poll(World& world, const Arguments& arguments) {
  const Caller& caller = world.caller(arguments.first);
  return answer_of(world.client().poll(caller, ticket_of(world, arguments)), world);
}

std::optional<Answer> cancel(World& world, const Arguments& arguments) {
  const Caller& caller = world.caller(arguments.first);
  const Result<void> done = world.client().cancel(caller, ticket_of(world, arguments));
  if (!done) return scenario::answer_of(done.error());
  return Answer{.head = {"cancelled", {}}};
}

}  // namespace

AcquireRequest request_of(World& world, const Arguments& arguments) {
  AcquireRequest request;
  request.caller = world.caller(arguments.first);
  for (const std::string& path : arguments.paths) add_wanted(request.paths, path);
  request.mode = arguments.has("shared") ? Mode::shared : Mode::exclusive;
  const bool endless = arguments.text("ttl") == "until-released";
  request.ttl = endless ? std::optional(kUntilReleased) : arguments.time("ttl");
  request.max_renewals = arguments.number("max-renewals");
  if (arguments.has("wait")) request.wait = kPlainWait;
  if (arguments.options.contains("wait")) request.wait = arguments.time("wait");
  request.priority = arguments.number("priority").value_or(0);
  request.attended = arguments.has("attended");
  request.reason = arguments.text("reason");
  request.room = arguments.text("room");
  request.idempotency_key = arguments.text("key");
  if (arguments.options.contains("pr")) request.caller.holder.pr_id = arguments.text("pr");
  return request;
}

std::vector<Verb> acquiring_verbs() {
  return {
      {"acquire",
       "OWNER PATH... [shared] [exclusive] [wait] [wait=TIME] [ttl=TIME] [max-renewals=N] [priority=N] "
       "[attended] "
       "[reason=TEXT] [room=NAME] [pr=ID] [key=KEY]",
       acquire},
      {"upgrade", "OWNER PATH... [wait] [wait=TIME] [ttl=TIME] [priority=N]", upgrade},
      {"poll", "OWNER [PATH...] [of=OWNER]", poll},
      {"cancel", "OWNER [PATH...] [of=OWNER]", cancel},
  };
}

}  // namespace leasehold::scenario
