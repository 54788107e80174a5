// lease-serve: `lease serve` and `lease token`.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <chrono>
#include <string_view>
#include <vector>

#include "cli/call.h"
#include "cli/commands.h"
#include "daemon/places.h"
#include "daemon/server.h"
#include "daemon/tokens.h"
#include "run/standard_descriptors.h"
#include "util/rfc3339.h"
#include "util/utf8.h"
#include "util/wall_now.h"

namespace leasehold {
namespace {

Result<int> serve(Call& call) {
  const Arguments& arguments = call.arguments();
  auto place = call.place();
  if (!place) return fail(place.error());
  auto settings = settings_of(arguments);
  if (!settings) return fail(settings.error());
  return daemon::serve({.listen = arguments.texts("listen"),
                        .place = *std::move(place),
                        .settings = *std::move(settings),
                        .tls_certificate = arguments.text("tls-cert").value_or(""),
                        .tls_key = arguments.text("tls-key").value_or(""),
                        .client_ca = arguments.text("client-ca").value_or(""),
                        .hosts = arguments.texts("host"),
                        .open_to_loopback = arguments.has("open-to-loopback"),
                        .json_log = arguments.text("log") == "json",
                        .verbose = call.out().verbose()});
}

// To act for everybody is not what anybody gets by leaving something out, or by an empty name ("$UNSET").
Result<void> check_agent(const Arguments& arguments, daemon::Role role) {
  const auto agent = arguments.text("agent");
  const bool any = arguments.has("any-agent");
  if (agent == "") return fail(Code::invalid_argument, "--agent is empty. Name the agent.");
  if (agent && any) return fail(Code::invalid_argument, "It is either --agent NAME or --any-agent.");
  if (any && role != daemon::Role::agent) {
    return fail(Code::invalid_argument,
                fmt::format("--any-agent is for the role agent, and this is for the role {}.", word(role)));
  }
  if (role == daemon::Role::agent && !agent && !any) {
    return fail(
        Code::invalid_argument,
        "Whom is it for? Name the agent: lease token create --agent NAME. One that may act as any agent, "
        "also on what others hold, is for a group that trusts one another: lease token create --any-agent");
  }
  return {};
}

Result<int> create_token(Call& call) {
  const Arguments& arguments = call.arguments();
  const daemon::Role role = daemon::role_named(arguments.text("role").value_or("agent")).value();
  if (auto named = check_agent(arguments, role); !named) return fail(named.error());
  const auto expires = arguments.duration("expires");
  if (!expires) return fail(expires.error());
  if (*expires && **expires <= Duration::zero())
    return fail(Code::invalid_argument, "--expires has to be longer than nothing, such as 90d.");
  daemon::TokenInfo token = {.role = role,
                             .agent_id = arguments.text("agent").value_or(""),
                             .note = arguments.text("note").value_or(""),
                             .created_at = wall_now()};
  if (*expires) token.expires_at = token.created_at + **expires;
  const auto file = daemon::token_file();
  if (!file) return fail(file.error());
  const auto made = daemon::create_token(*file, std::move(token));
  if (!made) return fail(made.error());
  if (call.out().json()) {
    call.out().document({{"id", made->id}, {"token", made->secret}});
  } else {
    call.out().print(made->secret + "\n");
  }
  return 0;
}

Result<int> list_tokens(Call& call) {
  const auto file = daemon::token_file();
  if (!file) return fail(file.error());
  const auto tokens = daemon::Tokens::read(*file);
  if (!tokens) return fail(tokens.error());
  boost::json::array all;
  std::string text;
  for (const daemon::TokenInfo& token : (*tokens)->all()) {
    const std::string expires = token.expires_at ? to_rfc3339(*token.expires_at) : "";
    all.push_back(
        {{"id", token.id},
         {"role", word(token.role)},
         {"agent_id", token.agent_id},
         {"note", token.note},
         {"expires_at", token.expires_at ? boost::json::value(expires) : boost::json::value(nullptr)}});
    text += fmt::format("{}  {}  {}  {}{}\n", token.id, word(token.role),
                        token.agent_id.empty() ? "any agent" : in_sentence(token.agent_id),
                        token.expires_at ? "until " + expires : "no end",
                        token.note.empty() ? "" : "  " + in_quotes(token.note));
  }
  if (call.out().json()) {
    call.out().document({{"tokens", std::move(all)}});
  } else {
    call.out().print(text);
  }
  return 0;
}

Result<int> token(Call& call) {
  const std::vector<std::string>& words = call.arguments().operands();
  if (words.front() == "create" && words.size() == 1) return create_token(call);
  if (words.front() == "list" && words.size() == 1) return list_tokens(call);
  if (words.front() == "revoke" && words.size() == 2) {
    const auto file = daemon::token_file();
    if (!file) return fail(file.error());
    if (auto done = daemon::revoke_token(*file, words[1]); !done) return fail(done.error());
    call.out().note("Revoked. A running daemon hears of it by SIGHUP.");
    return 0;
  }
  return fail(Code::invalid_argument, "It is: lease token create, list, or revoke ID. See: lease help token");
}

int run(std::span<const std::string_view> words) {
  const Command* const command = words.empty() ? &kServe : find_command(words.front());
  if (command != &kServe && command != &kToken)
    return report(Output({}), {Code::invalid_argument, "lease-serve is run by: lease serve, lease token."});
  const auto rest = words.empty() ? words : words.subspan(1);
  auto arguments = Arguments::parse(*command, rest);
  if (!arguments) return report(Output({}), arguments.error());
  const Output output({.json = arguments->has("json"),
                       .quiet = arguments->has("quiet"),
                       .verbose = arguments->has("verbose")});
  Call call(*command, rest, *std::move(arguments), output);
  const Result<int> status = command == &kServe ? serve(call) : token(call);
  return status ? *status : report(output, status.error());
}

}  // namespace
}  // namespace leasehold

int main(int count, char** values) {
  // Nobody asks SQLite how much memory it has, and counting takes a lock of all its threads.
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  leasehold::keep_standard_descriptors();
  const std::vector<std::string_view> words(values + std::min(count, 1), values + count);
  return leasehold::run(words);
}
