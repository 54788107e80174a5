#include "cli/mcp.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <tuple>

#include "cli/call.h"
#include "cli/end_signals.h"
#include "env/system_random.h"
#include "hook/noted_session.h"
#include "mcp/stdio.h"
#include "open/etcd.h"
#include "util/variables.h"

namespace leasehold {
namespace {

// For whom, as far as flags and variables tell; the client tells the rest.
Result<mcp::DeskOptions> desk_options(Call& call) {
  auto place = call.place();
  if (!place) return fail(place.error());
  const Arguments& given = call.arguments();
  // Without what hooks noted: that is asked for at each call.
  const Identity who = identify(
      {.agent_id = given.text("agent"), .session_id = given.text("session"), .pr_id = given.text("pr")},
      own_variable, system_user(), {});
  SystemRandom random;
  const char* const trace = std::getenv("TRACEPARENT");
  return mcp::DeskOptions{
      .open = [&call](bool create, bool only_managed) { return call.workspace(create, only_managed); },
      .place = *place,
      .owner = {who.is_user ? std::string() : who.owner.agent_id, who.owner.session_id},
      .noted =
          [around = SessionAround(*place, own_variable), said = who.said] {
            Owner owner = around.now().value_or(Owner{});
            if (!said.agent_id.empty()) owner.agent_id.clear();
            if (!said.session_id.empty()) owner.session_id.clear();
            return owner;
          },
      .pr_id = who.pr_id,
      .host = who.host,
      .user = who.owner.agent_id,
      .session = "mcp-" + make_uuid(random),
      .trace = trace == nullptr ? "" : trace};
}

// A server that has begun cannot hand on what its client said: leases in etcd need another program from the
// start.
void step_aside_for_etcd(Call& call) {
  if (stay_this_program == nullptr) return;
  const auto settings = call.settings_without_store();
  const auto names_etcd = [](const EffectiveSetting& setting) {
    return setting.name == "store" && setting.value.starts_with("etcd");
  };
  if (settings && std::ranges::any_of(*settings, names_etcd)) std::ignore = call.workspace();
  stay_this_program();
}

Result<int> run(Call& call) {
  step_aside_for_etcd(call);
  auto options = desk_options(call);
  if (!options) return fail(options.error());
  // A client that is gone ends us by the end of its input.
  std::signal(SIGPIPE, SIG_IGN);
  const EndSignals signals;
  mcp::Desk desk(*std::move(options));
  mcp::Server server(desk, {.version = LEASEHOLD_VERSION});
  mcp::serve_lines(server, STDIN_FILENO, STDOUT_FILENO, signals.descriptor());
  desk.end();
  return 0;
}

constexpr Example kExamples[] = {
    {"claude mcp add lease -- lease mcp", "for one agent by hand; lease init does it for all it finds"},
};

}  // namespace

const Command kMcp = {
    .name = "mcp",
    .synopsis = "",
    .summary = "Serve leases as tools of the Model Context Protocol",
    .description =
        "A server on standard input and output, started by an agent: six tools (lease_acquire, "
        "lease_release, "
        "lease_status, lease_transfer, lease_gate, lease_history), and the board to read and to follow. It "
        "acts "
        "for the agent that started it; what it got ends with it.",
    .uses = Uses::owner,
    .examples = kExamples,
    .run = run,
};

}  // namespace leasehold
