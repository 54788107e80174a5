#include "scenarios/duration_text.h"
#include "scenarios/requesting.h"
#include "scenarios/rows.h"
#include "scenarios/verbs.h"

namespace leasehold::scenario {
namespace {

Answer answer_of(const Allowed& allowed, World& world) {
  Answer answer;
  for (const Lease& lease : allowed.leases) {
    add_row(answer, row_of(allowed.granted ? "granted" : "allowed", lease, world));
  }
  if (answer.rows.empty()) answer.head.word = "allowed";  // A read.
  return answer;
}

Answer answer_of(const Denied& denied, World& world) {
  Answer answer = scenario::answer_of(Error{denied.code, denied.message});
  if (denied.code == Code::retry_later) {
    const auto left = std::chrono::duration_cast<Duration>(denied.retry_at - world.now());
    answer.head.pairs.push_back({"retry_in", to_text(left)});
  }
  add_obstacles(answer, denied.blocked, world);
  return answer;
}

std::optional<Answer> gate(World& world, const Arguments& arguments) {
  AcquireRequest wanted = request_of(world, arguments);
  for (WantedPath& path : wanted.paths) path.requested = path.requested && !arguments.has("past");
  const auto result = world.client().gate({.wanted = std::move(wanted),
                                           .read = arguments.has("read"),
                                           .telling = arguments.has("kept") ? Telling::kept : Telling::told});
  if (!result) return scenario::answer_of(result.error());
  Answer answer =
      std::visit([&](const auto& decision) { return answer_of(decision, world); }, result->decision);
  add_notices(answer, result->notices);
  return answer;
}

// What the gate tells whoever asks it for nothing.
std::optional<Answer> news(World& world, const Arguments& arguments) {
  GateRequest request = {.telling = Telling::only};
  request.wanted.caller = world.caller(arguments.first);
  const auto result = world.client().gate(request);
  if (!result) return scenario::answer_of(result.error());
  Answer answer = {.head = {"told", {}}};
  add_notices(answer, result->notices);
  return answer;
}

std::optional<Answer> blockers(World& world, const Arguments&) {
  const auto found = world.client().blockers();
  if (!found) return scenario::answer_of(found.error());
  Answer answer;
  for (const Blocker& blocker : found->blockers) {
    const Contention& contention = blocker.contention;
    Phrase row = {"halted", {}};
    row.pairs.push_back({"path", to_text(Scope{contention.path, false})});
    row.pairs.push_back({"by", to_text(contention.owner())});
    row.pairs.push_back({"verdict", std::string(word(blocker.worker.liveness))});
    add_row(answer, std::move(row));
  }
  if (answer.rows.empty()) answer.head.word = "none";
  return answer;
}

// The blocker is found by whose it is and where; one that is not halted has none.
std::optional<Answer> instruct(World& world, const Arguments& arguments) {
  const auto instruction = from_word<Instruction>(arguments.text("do"));
  if (!instruction) throw BadStep("instruct do=retry, force, transfer or abandon");
  const auto found = world.client().blockers();
  if (!found) return scenario::answer_of(found.error());
  const Owner worker = parse_owner(arguments.text("of"));
  const std::string path = parse_scope(arguments.paths.front()).path;
  std::string id = "none";
  for (const Blocker& blocker : found->blockers) {
    const Contention& contention = blocker.contention;
    if (contention.owner() != worker || contention.path != path) continue;
    id = contention.id;
    world.remember_blocker({id}, arguments.text("of"));
  }
  const auto done = world.client().instruct(
      {.id = id, .instruction = *instruction, .actor = arguments.first, .reason = arguments.text("reason")});
  if (!done) return scenario::answer_of(done.error());
  return Answer{.head = {std::string(word(*instruction)), {}}};
}

std::optional<Answer> end_session(World& world, const Arguments& arguments) {
  return scenario::answer_of("released", world.client().end_session(world.caller(arguments.first)), world);
}

}  // namespace

std::vector<Verb> gate_verbs() {
  return {
      {"gate", "OWNER PATH... [read] [attended] [kept] [past] [wait] [ttl=TIME] [reason=TEXT]", gate},
      {"news", "OWNER", news},
      {"blockers", "", blockers},
      {"instruct", "NAME PATH... of=OWNER do=WORD [reason=TEXT]", instruct},
      {"end-session", "OWNER", end_session},
  };
}

}  // namespace leasehold::scenario
