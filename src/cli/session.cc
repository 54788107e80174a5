#include <fmt/format.h>

#include <cstdlib>

#include "cli/answers.h"
#include "cli/commands.h"
#include "cli/did_you_mean.h"
#include "cli/render_text.h"
#include "util/utf8.h"
#include "wire/people_json.h"

namespace leasehold {
namespace {

std::string shown(const SessionPath& path) {
  return fmt::format("{}{}\t{}", in_sentence(path.path), path.subtree ? "/" : "", word(path.mode));
}

void tell_of_invalid(const Output& out, const std::vector<std::string>& invalid) {
  for (const std::string& one : invalid) out.complain(fmt::format("Passed over: {}", one));
}

Result<int> show(Call& call, Client& client, const std::string& session_id) {
  const auto found = client.session_paths(session_id);
  if (!found) return fail(found.error());
  if (call.out().json()) {
    call.out().document(session_json(session_id, *found));
    return 0;
  }
  for (const SessionPath& path : found->paths) call.out().print(shown(path) + "\n");
  tell_of_invalid(call.out(), found->invalid);
  return 0;
}

// What one path's answer comes to: nothing, or why not.
std::optional<Error> problem(const Result<AcquireAnswer>& answer) {
  if (!answer) return answer.error();
  const auto* refused = std::get_if<Refused>(&answer->decision);
  return refused == nullptr ? std::nullopt : std::optional(Error{refused->code, refused->message});
}

Result<int> restore(Call& call, Client& client, const std::string& session_id) {
  AcquireRequest as = {.caller = call.caller(true), .reason = "restored"};
  as.caller.holder.owner.session_id = session_id;
  if (const char* trace = std::getenv("TRACEPARENT")) as.trace = trace;
  Moment at;  // Before: what is done then has to be told.
  if (call.out().json()) {
    const auto asked = call.moment("/");
    if (!asked) return fail(asked.error());
    at = *asked;
  }
  const auto restored = client.restore_session(as);
  if (!restored) return fail(restored.error());
  int status = 0;
  for (const RestoredPath& one : restored->paths) {
    if (const auto why = problem(one.answer); why && status == 0) status = info(why->code).exit_code;
  }
  if (call.out().json()) {
    call.out().document(restored_json(session_id, *restored, at));
    return status;
  }
  for (const RestoredPath& one : restored->paths) {
    if (const auto why = problem(one.answer)) {
      call.out().complain(fmt::format("{} is not restored. {}", in_sentence(one.path.path), why->message));
    } else {
      tell(call.out(), one.answer->notices);
      call.out().print(granted_text(std::get<Granted>(one.answer->decision), call.out()));
    }
  }
  tell_of_invalid(call.out(), restored->invalid);
  if (restored->paths.empty()) call.out().note("There is nothing to restore.");
  return status;
}

Result<int> run(Call& call) {
  const std::vector<std::string>& words = call.arguments().operands();
  constexpr std::string_view kVerbs[] = {"restore", "show"};
  if (words.front() != "restore" && words.front() != "show") {
    return fail(Code::invalid_argument,
                fmt::format("lease session cannot {}.{} See: lease help session", in_quotes(words.front()),
                            did_you_mean(words.front(), kVerbs)));
  }
  if (words.size() < 2) {
    return fail(Code::invalid_argument,
                fmt::format("SESSION is missing: whose files to {}. See: lease help session",
                            words.front() == "show" ? "show" : "get back"));
  }
  const auto workspace = call.workspace();
  if (!workspace) return fail(workspace.error());
  Client& client = *(*workspace)->client();
  return words.front() == "show" ? show(call, client, words[1]) : restore(call, client, words[1]);
}

constexpr Example kExamples[] = {
    {"LEASE_PROFILE=session lease session restore s-42", "all that session s-42 had and did not give back"}};

}  // namespace

const Command kSession = {
    .name = "session",
    .synopsis = "restore SESSION\nshow SESSION",
    .summary = "Get back what a session had, or show it",
    .description =
        "Under the profile session the store remembers which files a session got and did not give back, also "
        "when the leases have run out meanwhile (for session_history_life, if that is set). restore asks for "
        "each of them again, "
        "in that session, by the rules of lease acquire, and tells what became of each. What stands there "
        "and cannot be a path is passed over and told.",
    .uses = Uses::owner,
    .operands = {"VERB", "restore or show, and the session's id", 1, 2},
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
