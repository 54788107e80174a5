#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/commands.h"
#include "util/utf8.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

Result<int> run(Call& call) {
  const auto asked = token(call.arguments());
  if (!asked) return fail(asked.error());
  if (!*asked)
    return fail(Code::invalid_argument, "--token is missing: the one that lease acquire gave you.");
  const auto workspace = call.workspace_to_ask();
  if (!workspace) return fail(workspace.error());
  const auto keys = call.keys(call.arguments().operands());
  if (!keys) return fail(keys.error());
  const auto checked = (*workspace)->client()->check(call.caller(), keys->front(), **asked);
  if (!checked) return fail(checked.error());

  const int status = checked->error ? info(checked->error->code).exit_code : 0;
  if (call.out().json()) {
    const auto at = call.moment(keys->front());
    if (!at) return fail(at.error());
    call.out().document(check_json(*checked, *at));
    return status;
  }
  tell(call.out(), checked->notices);
  if (checked->error) {
    call.out().complain(checked->error->message);
  } else {
    call.out().print(fmt::format("{}  current\n", in_sentence(keys->front())));
  }
  return status;
}

constexpr OptionSpec kOptions[] = {{"--token", "N", "The token of the grant"}};

constexpr Example kExamples[] = {{"lease check -q src/a.ts --token \"$LEASE_TOKEN\" && mv a.new src/a.ts",
                                  "write only while it is yours"}};

}  // namespace

const Command kCheck = {
    .name = "check",
    .synopsis = "PATH --token N",
    .summary = "Ask whether a token is still the current grant's",
    .description =
        "To be asked right before a protected write: exits with 0 if the token is that of a live lease that "
        "covers the path, and says what became of it if not. Reads only.",
    .uses = Uses::owner,
    .operands = {"PATH", "The file that is to be written", 1, 1},
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
