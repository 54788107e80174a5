
#include "scenarios/rows.h"
#include "scenarios/selecting.h"
#include "scenarios/verbs.h"

namespace leasehold::scenario {
namespace {

std::optional<Answer> renew(World& world, const Arguments& arguments) {
  return answer_of("renewed",
                   world.client().renew({.caller = world.caller(arguments.first),
                                         .which = selection_of(world, arguments),
                                         .token = token_of(world, arguments),
                                         .ttl = arguments.time("ttl")}),
                   world);
}

ReleaseRequest release_request(World& world, const Arguments& arguments) {
  return {.caller = world.caller(arguments.first),
          .which = selection_of(world, arguments),
          .token = token_of(world, arguments)};
}

std::optional<Answer> release(World& world, const Arguments& arguments) {
  return answer_of("released", world.client().release(release_request(world, arguments)), world);
}

std::optional<Answer> downgrade(World& world, const Arguments& arguments) {
  return answer_of("downgraded", world.client().downgrade(release_request(world, arguments)), world);
}

std::optional<Answer> transfer(World& world, const Arguments& arguments) {
  return answer_of("moved",
                   world.client().transfer({.caller = world.caller(arguments.first),
                                            .which = selection_of(world, arguments),
                                            .to = world.caller(arguments.text("to")).holder,
                                            .note = arguments.text("note"),
                                            .as_operator = arguments.has("as-operator"),
                                            .attended = arguments.has("attended")}),
                   world);
}

std::optional<Answer> check(World& world, const Arguments& arguments) {
  if (arguments.paths.size() != 1) throw BadStep("check looks at one path");
  const auto checked = world.client().check(
      world.caller(arguments.first), parse_scope(arguments.paths.front()).path, *token_of(world, arguments));
  if (!checked) return answer_of(checked.error());
  Answer answer = checked->error ? answer_of(*checked->error) : Answer{};
  if (checked->current) answer.head.word = "current";
  for (const Lease& lease : checked->holders) answer.rows.push_back(row_of("held", lease, world));
  add_notices(answer, checked->notices);
  return answer;
}

// Any call hands them over; this one asks for nothing else.
std::optional<Answer> notices(World& world, const Arguments& arguments) {
  const auto checked = world.client().check(world.caller(arguments.first), "/", Token{});
  if (!checked) return answer_of(checked.error());
  Answer answer;
  for (const Notice& notice : in_order(checked->notices)) add_row(answer, row_of(notice, world));
  if (answer.rows.empty()) answer.head.word = "none";
  return answer;
}

std::optional<Answer> turn_start(World& world, const Arguments& arguments) {
  const auto leases = world.client().turn_started(world.caller(arguments.first).holder);
  if (!leases) return answer_of(leases.error());
  return Answer{.head = {"started", {{"leases", std::to_string(*leases)}}}};
}

std::optional<Answer> turn_stop(World& world, const Arguments& arguments) {
  const auto leases = world.client().turn_stopped(world.caller(arguments.first).holder);
  if (!leases) return answer_of(leases.error());
  return Answer{.head = {"stopped", {{"leases", std::to_string(*leases)}}}};
}

}  // namespace

Selection selection_of(World& world, const Arguments& arguments) {
  Selection which;
  for (const Scope& scope : arguments.scopes()) which.paths.push_back(scope.path);
  if (arguments.options.contains("id")) {
    const std::string name = arguments.text("id");
    const auto id =
        name == "unknown" ? LeaseId{"00000000-0000-4000-8000-000000000000"} : world.names.lease(name);
    if (!id) throw BadStep("no lease was called " + name + " yet; id=unknown is one that never was");
    which.ids = {*id};
  }
  which.all = arguments.has("all");
  if (arguments.options.contains("pr")) which.pr_id = arguments.text("pr");
  if (arguments.options.contains("session")) which.session_id = arguments.text("session");
  if (arguments.options.contains("agent")) which.agent_id = arguments.text("agent");
  return which;
}

std::optional<Token> token_of(World& world, const Arguments& arguments) {
  if (!arguments.options.contains("token")) return std::nullopt;
  const std::string name = arguments.text("token");
  if (name == "unknown") return Token{1};
  const auto token = world.names.token(name);
  if (!token) throw BadStep("no token was called " + name + " yet; token=unknown is one that never was");
  return token;
}

std::vector<Verb> holding_verbs() {
  return {
      {"renew", "OWNER [PATH...] [all] [id=LEASE] [pr=ID] [session=ID] [agent=ID] [token=TOKEN] [ttl=TIME]",
       renew},
      {"release", "OWNER [PATH...] [all] [id=LEASE] [pr=ID] [session=ID] [agent=ID] [token=TOKEN]", release},
      {"downgrade", "OWNER [PATH...] [all] [id=LEASE] [token=TOKEN]", downgrade},
      {"transfer",
       "OWNER [PATH...] [all] [id=LEASE] [pr=ID] [session=ID] [agent=ID] to=OWNER [note=TEXT] [as-operator] "
       "[attended]",
       transfer},
      {"check", "OWNER PATH... token=TOKEN", check},
      {"notices", "OWNER", notices},
      {"turn-start", "OWNER", turn_start},
      {"turn-stop", "OWNER", turn_stop},
  };
}

}  // namespace leasehold::scenario
