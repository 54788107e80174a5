// Which process the leases of this caller hang on.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/machine.h"
#include "env/processes.h"
#include "leasehold/lease.h"
#include "util/variables.h"

namespace leasehold {

// The processes around a caller: the real ones, or those a test invents.
class ProcessTable {
 public:
  virtual ~ProcessTable() = default;

  // Nothing: there is none of this pid, or it cannot be seen.
  virtual std::optional<ProcessStat> find(pid_t pid) const = 0;
  virtual std::vector<std::string> arguments(pid_t pid) const = 0;
};

struct CallerProcess {
  ProcessStat process;
  std::string_view agent;  // Which known agent it is; empty: it leads a terminal's session.
};

// The process that stands for whoever runs `self`:
//   1. the nearest ancestor that is a known agent. If that agent tells its children its pid (CLAUDE_PID) and
//      that is an ancestor too, then that one: what is nearer may be a helper of the agent;
//   2. the process such a variable names, if it is that agent: for those an agent has detached from itself;
//   3. the leader of the session, if the session has a controlling terminal;
//   4. none. Then only time ends the leases.
//
// Never one that ends with the command: not the caller, nor its parent as such, nor a leader that is a shell
// started for one command, as agents we do not know start them on pseudo-terminals.
//
// Two small files are read for each ancestor up to the one it takes.
std::optional<CallerProcess> find_caller_process(const ProcessTable& table, pid_t self,
                                                 const Variables& variables);

// The same for this process, as a lease records it. Nothing as well where /proc cannot be read or shows
// another pid namespace.
std::optional<Process> caller_process(const Machine& machine, const Variables& variables,
                                      const ProcFolder& proc = ProcFolder());

// The process table in /proc, which has to be this process's own (ProcFolder::is_own).
class ProcTable final : public ProcessTable {
 public:
  explicit ProcTable(ProcFolder proc = ProcFolder()) : proc_(std::move(proc)) {}

  std::optional<ProcessStat> find(pid_t pid) const override;
  std::vector<std::string> arguments(pid_t pid) const override;

 private:
  ProcFolder proc_;
};

}  // namespace leasehold
