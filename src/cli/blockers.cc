#include <fmt/format.h>

#include "cli/call.h"
#include "cli/commands.h"
#include "engine/explain.h"
#include "engine/explain_gate.h"
#include "engine/ownership.h"
#include "util/utf8.h"
#include "wire/answer_json.h"
#include "wire/gate_json.h"

namespace leasehold {
namespace {

std::string line(const Blocker& blocker, Time now) {
  const Contention& contention = blocker.contention;
  std::string text =
      fmt::format("{}  {} waits for {}: {}", contention.id, describe(contention.wanted.caller.holder),
                  in_sentence(contention.path), describe_denials(contention, now));
  for (const Blocked& blocked : blocker.blocked) text += fmt::format("\n    {}", describe(blocked, now));
  if (blocker.blocked.empty()) text += "\n    nobody is in its way now";
  return text + '\n';
}

Result<int> list(Call& call, Client& client) {
  const auto found = client.blockers();
  if (!found) return fail(found.error());
  if (call.out().json()) {
    call.out().document(blockers_json(*found));
    return 0;
  }
  for (const Blocker& blocker : found->blockers) call.out().print(line(blocker, found->at));
  if (found->blockers.empty()) {
    call.out().note("No worker is halted.");
  } else {
    call.out().note("To decide: lease blockers resolve ID retry|force|transfer|abandon --reason TEXT");
  }
  return 0;
}

Result<int> resolve(Call& call, Client& client) {
  const std::vector<std::string>& words = call.arguments().operands();
  const auto instruction = words.size() == 3 ? from_word<Instruction>(words[2]) : std::nullopt;
  if (words.front() != "resolve" || !instruction) {
    return fail(
        Code::invalid_argument,
        "Say: lease blockers, or lease blockers resolve ID retry|force|transfer|abandon --reason TEXT");
  }
  // Whoever is halted may want to go on; that is why somebody else decides.
  const auto known = client.blockers();
  if (!known) return fail(known.error());
  for (const Blocker& one : known->blockers) {
    if (one.contention.id == words[1] && owns(call.caller(), one.contention.owner())) {
      return fail(Code::not_owner,
                  fmt::format("Blocker {} is your own: an operator decides, not the worker that is "
                              "halted. Report it and wait.",
                              words[1]));
    }
  }
  const auto done = client.instruct({.id = words[1],
                                     .instruction = *instruction,
                                     .actor = call.identity().owner.agent_id,
                                     .reason = call.arguments().text("reason").value_or("")});
  if (!done) return fail(done.error());
  if (call.out().json()) {
    call.out().document({{"id", done->id}, {"instruction", word(*instruction)}, {"file", done->path}});
  } else {
    call.out().note(fmt::format("{}: {} for {}.", word(*instruction), in_sentence(done->path),
                                describe(done->wanted.caller.holder)));
  }
  return 0;
}

Result<int> run(Call& call) {
  const auto workspace = call.workspace(true, true);
  if (!workspace) return fail(workspace.error());
  Client& client = *(*workspace)->client();
  return call.arguments().operands().empty() ? list(call, client) : resolve(call, client);
}

constexpr OptionSpec kOptions[] = {
    {"--reason", "TEXT", "Why; it is needed, and goes into history"},
};

constexpr Example kExamples[] = {
    {"lease blockers", "who is halted, for what, and who is in the way"},
    {"lease blockers resolve 0192... force --reason 'release day'", "end the other's lease and go on"},
};

}  // namespace

const Command kBlockers = {
    .name = "blockers",
    .synopsis = "\nresolve ID retry|force|transfer|abandon --reason TEXT",
    .summary = "List workers that the gate halted, and instruct them",
    .description =
        "A worker whose file was still held at its one retry is halted until somebody decides. retry: it "
        "looks "
        "once more, at once. force: what is in its way ends, and it has the file. transfer: the same, and "
        "the "
        "lease is handed over. abandon: it leaves the file alone for the rest of its session. It learns the "
        "decision by its next write, or at once from lease gate --wait.",
    .uses = Uses::owner,
    .operands = {"WORD", "resolve, the blocker's id, and what to do", 0, 3},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
