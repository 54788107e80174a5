#include "env/caller_process.h"

#include <unistd.h>

#include <algorithm>

#include "env/known_agents.h"
#include "util/number.h"

namespace leasehold {
namespace {

// Deeper than any real tree of processes; a table that changes while we read could lead in a circle.
constexpr int kAncestorsMax = 100;

// An agent that a variable of the environment names by its pid.
struct Told {
  const KnownAgent* agent;
  pid_t pid;
};

std::vector<Told> told_by(const Variables& variables) {
  std::vector<Told> told;
  for (const KnownAgent& agent : known_agents()) {
    const char* const text = agent.pid_variable == nullptr ? nullptr : variables(agent.pid_variable);
    if (text == nullptr) continue;
    if (const auto pid = parse_number<pid_t>(text); pid && *pid > 0) told.push_back({&agent, *pid});
  }
  return told;
}

const KnownAgent* agent_at(const ProcessTable& table, const ProcessStat& process) {
  return agent_running_as(process.comm, table.arguments(process.pid));
}

std::optional<CallerProcess> agent_above(const ProcessTable& table, const ProcessStat& caller,
                                         const std::vector<Told>& told) {
  std::optional<CallerProcess> nearest;
  const auto is_told = [&](const ProcessStat& process) {
    return std::ranges::find_if(told, [&](const Told& one) {
      return one.pid == process.pid && (!nearest || nearest->agent == one.agent->name);
    });
  };

  pid_t pid = caller.parent;
  for (int i = 0; i < kAncestorsMax && pid > 0; ++i) {
    const auto ancestor = table.find(pid);
    if (!ancestor) break;
    if (const auto one = is_told(*ancestor); one != told.end()) {
      return CallerProcess{*ancestor, one->agent->name};
    }
    if (!nearest) {
      if (const KnownAgent* agent = agent_at(table, *ancestor))
        nearest = CallerProcess{*ancestor, agent->name};
    }
    // Only a variable could still name a better one.
    if (nearest && told.empty()) break;
    pid = ancestor->parent;
  }
  return nearest;
}

// A variable is inherited by what outlives the agent, and its pid by other processes: so the process has to
// be that agent.
std::optional<CallerProcess> agent_elsewhere(const ProcessTable& table, const std::vector<Told>& told) {
  for (const Told& one : told) {
    const auto process = table.find(one.pid);
    if (process && !process->has_ended() && agent_at(table, *process) == one.agent) {
      return CallerProcess{*process, one.agent->name};
    }
  }
  return std::nullopt;
}

std::optional<CallerProcess> terminal_leader(const ProcessTable& table, const ProcessStat& caller) {
  if (caller.terminal == 0 || caller.session <= 0 || caller.session == caller.pid) return std::nullopt;
  const auto leader = table.find(caller.session);
  // A session outlives its leader; then the pid may be anybody's.
  if (!leader || leader->has_ended() || leader->session != leader->pid) return std::nullopt;
  if (leader->terminal != caller.terminal) return std::nullopt;
  if (is_shell_for_one_command(table.arguments(leader->pid))) return std::nullopt;
  return CallerProcess{*leader, ""};
}

}  // namespace

std::optional<CallerProcess> find_caller_process(const ProcessTable& table, pid_t self,
                                                 const Variables& variables) {
  const auto caller = table.find(self);
  if (!caller) return std::nullopt;
  const std::vector<Told> told = told_by(variables);
  if (auto found = agent_above(table, *caller, told)) return found;
  if (auto found = agent_elsewhere(table, told)) return found;
  return terminal_leader(table, *caller);
}

std::optional<Process> caller_process(const Machine& machine, const Variables& variables,
                                      const ProcFolder& proc) {
  if (!proc.is_own()) return std::nullopt;
  const auto found = find_caller_process(ProcTable(proc), ::getpid(), variables);
  return found ? identity(machine, found->process) : std::nullopt;
}

std::optional<ProcessStat> ProcTable::find(pid_t pid) const {
  auto stat = proc_.stat(pid);
  if (!stat) return std::nullopt;
  return *std::move(stat);
}

std::vector<std::string> ProcTable::arguments(pid_t pid) const { return proc_.arguments(pid); }

}  // namespace leasehold
