#include "daemon/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>

#include "leasehold/until_released.h"
#include "model/key.h"
#include "util/number.h"
#include "util/shell_word.h"
#include "util/utf8.h"

namespace leasehold::daemon {
namespace {

// What any request needs, and half of what the parser could take.
constexpr std::size_t kDepthMost = 16;

}  // namespace

Result<boost::json::value> body_of(const Request& request) {
  if (request.body.empty()) return boost::json::object();
  boost::system::error_code error;
  boost::json::parse_options options;
  options.max_depth = kDepthMost;
  auto value = boost::json::parse(request.body, error, {}, options);
  if (error)
    return fail(Code::invalid_argument, fmt::format("The body is not JSON, or nested more than {} deep: {}.",
                                                    kDepthMost, error.message()));
  return value;
}

Result<void> bind(const Principal& principal, Caller& caller) {
  if (!principal.is_local) caller.holder.process.reset();
  std::string& agent = caller.holder.owner.agent_id;
  if (agent.empty()) agent = principal.agent_id;
  if (agent.empty()) return fail(Code::invalid_argument, "agent_id is missing: the name of who asks.");
  if (!principal.is_one_agents()) return {};
  if (!principal.is_for(agent)) {
    return fail(
        Code::not_owner,
        fmt::format("This credential is for the agent {}, and the request for {}. Act as that agent "
                    "(LEASE_AGENT={}), or use the credential of this one.",
                    in_sentence(principal.agent_id), in_sentence(agent), shell_word(principal.agent_id)));
  }
  // Whoever knows a session's id is not thereby all of its agents.
  caller.whole_session = false;
  return {};
}

Result<void> bind(const Exchange& exchange, Caller& caller) {
  const Principal& principal = exchange.request.principal;
  if (principal.is_one_agents() && exchange.request.header("lease-agent") == "guessed")
    caller.holder.owner.agent_id = principal.agent_id;
  return bind(principal, caller);
}

Result<void> sign(const Exchange& exchange, std::string& actor) {
  const Principal& principal = exchange.request.principal;
  const bool is_told = !actor.empty() && exchange.request.header("lease-agent") != "guessed";
  if (principal.agent_id.empty()) {
    if (actor.empty()) actor = principal.name;
  } else if (!is_told) {
    actor = principal.agent_id;
  } else if (actor != principal.agent_id) {
    return fail(Code::not_owner, fmt::format("This credential is for {}, who cannot sign as {}. Leave the "
                                             "actor out, or use a credential of that one.",
                                             in_sentence(principal.agent_id), in_sentence(actor)));
  }
  return {};
}

Result<void> make_keys(std::vector<std::string>& paths) {
  for (std::string& path : paths) {
    auto key = key_from_wire(path);
    if (!key) return fail(key.error());
    path = *std::move(key);
  }
  return {};
}

Result<void> make_keys(std::vector<WantedPath>& paths) {
  for (WantedPath& wanted : paths) {
    auto key = key_from_wire(wanted.path);
    if (!key) return fail(key.error());
    wanted.path = *std::move(key);
    if (auto made = make_keys(wanted.paired_with); !made) return made;
  }
  return {};
}

void forbid_endless(const Exchange& exchange, std::optional<Duration>& ttl) {
  if (ttl && !exchange.may(Role::op)) ttl = std::min(*ttl, kUntilReleased - Duration(1));
}

Result<std::optional<Token>> token_from_if_match(const Request& request) {
  std::string_view text = request.header("if-match");
  if (text.empty() || text == "*") return std::nullopt;
  if (text.starts_with('"') && text.ends_with('"') && text.size() > 2) {
    if (const auto value = parse_number<std::uint64_t>(text.substr(1, text.size() - 2))) return Token{*value};
  }
  return fail(Code::invalid_argument, "If-Match has to be a lease's token in quotes, as ETag gives it.");
}

Result<std::optional<std::uint64_t>> number_from(const Request& request, const std::string& name) {
  const auto text = request.parameter(name);
  if (!text) return std::nullopt;
  if (const auto value = parse_number<std::uint64_t>(*text)) return value;
  return fail(Code::invalid_argument, fmt::format("{} is {}; give a number.", name, in_quotes(*text)));
}

}  // namespace leasehold::daemon
