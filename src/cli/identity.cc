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

}  // namespace

Identity identify(const IdentityFlags& flags, const std::function<const char*(const char* name)>& variables,
                  const SystemUser& system) {
  Identity identity = {.pr_id = first_of(flags.pr_id, variables("LEASE_PR")).value_or(""),
                       .host = system.host};
  const auto agent = first_of(flags.agent_id, variables("LEASE_AGENT"));
  const auto session = first_of(flags.session_id, variables("LEASE_SESSION"));
  std::optional<HostAgent> around;
  if (!agent || !session) around = host_agent(variables);
  identity.owner.session_id = session.value_or(around ? around->session_id : "");
  if (agent) {
    identity.owner.agent_id = *agent;
    identity.source = flags.agent_id ? "flag --agent" : "environment LEASE_AGENT";
  } else if (around) {
    identity.owner.agent_id = around->name;
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
