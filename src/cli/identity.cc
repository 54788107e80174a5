#include "cli/identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "env/host_agent.h"

namespace leasehold {
namespace {

std::optional<std::string> first_of(const std::optional<std::string>& flag, const char* variable) {
  if (flag) return flag;
  if (variable != nullptr && *variable != '\0') return variable;
  return std::nullopt;
}

// An agent that another started inherits variables that tell the other's session: so what is noted of the
// agent right around counts more than those of another.
std::optional<Owner> owner_around(const Variables& variables, const Noted& noted) {
  const auto shown = host_agent(variables);
  const auto known = noted ? noted() : std::nullopt;
  // The terminals of an editor are its user's as well; its agent's show themselves.
  const bool may_be_user = known && !shown && known->agent_id == "cursor";
  if (known && !may_be_user && (!shown || shown->session_id.empty() || shown->name != known->agent_id))
    return known;
  if (!shown) return std::nullopt;
  return Owner{std::string(shown->name), shown->session_id};
}

}  // namespace

Identity identify(const IdentityFlags& flags, const Variables& variables, const SystemUser& system,
                  const Noted& noted) {
  Identity identity = {.pr_id = first_of(flags.pr_id, variables("LEASE_PR")).value_or(""),
                       .host = system.host};
  const auto agent = first_of(flags.agent_id, variables("LEASE_AGENT"));
  const auto session = first_of(flags.session_id, variables("LEASE_SESSION"));
  identity.said = {agent.value_or(""), session.value_or("")};
  std::optional<Owner> around;
  if (!agent || !session) around = owner_around(variables, noted);
  identity.owner.session_id = session.value_or(around ? around->session_id : "");
  if (agent) {
    identity.owner.agent_id = *agent;
    identity.source = flags.agent_id ? "flag --agent" : "environment LEASE_AGENT";
  } else if (around) {
    identity.owner.agent_id = around->agent_id;
    identity.source = "the agent around";
  } else {
    identity.owner.agent_id = fmt::format("{}@{}", system.user, system.host);
    identity.source = "user and host";
    identity.is_user = true;
  }
  return identity;
}

SystemUser system_user() {
  char host[HOST_NAME_MAX + 1] = "localhost";
  ::gethostname(host, sizeof host - 1);
  // Not getpwuid(3): it would load name service libraries, and cost more than all the rest.
  const char* user = std::getenv("USER");
  if (user == nullptr || *user == '\0') user = std::getenv("LOGNAME");
  return {user == nullptr || *user == '\0' ? fmt::format("uid{}", ::getuid()) : std::string(user), host};
}

}  // namespace leasehold
