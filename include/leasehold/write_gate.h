// The gate (gate.h) for a program that writes files by their paths: may I write these now?
//
//   leasehold::WriteGate gate(**workspace, caller);
//   auto answer = gate.write({"src/a.ts"});
//   if (answer && std::holds_alternative<leasehold::Allowed>(answer->decision)) write_it();
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "leasehold/gate.h"
#include "leasehold/open.h"

namespace leasehold {

// Thread-safe. Uses the workspace, which must outlive it.
class WriteGate {
 public:
  // `reason`: what for; others see it. `cwd`: what relative paths are relative to, the workspace's root if
  // empty.
  WriteGate(OpenWorkspace& workspace, Caller caller, std::string reason = {}, std::string cwd = {});

  // Grants what is free, with the tests of sources. Paths outside of the workspace are none of its business:
  // if nothing else is asked for, the answer is Allowed without leases.
  // Errors: invalid_path, and those of Client::gate().
  Result<GateAnswer> write(const std::vector<std::string>& paths);

  // Refused while another owner holds one of them exclusively. Grants nothing.
  Result<GateAnswer> read(const std::vector<std::string>& paths);

  // write(), and when denied waits as Client::gate_and_wait() does. Blocks.
  Result<GateAnswer> write_and_wait(const std::vector<std::string>& paths, Duration at_most,
                                    const std::function<void(const GateAnswer&)>& denied = {},
                                    int cancelled = -1);

 private:
  Result<GateAnswer> ask(const std::vector<std::string>& paths, bool read);
  Result<GateRequest> request(const std::vector<std::string>& paths, bool read) const;

  OpenWorkspace& workspace_;
  Caller caller_;
  std::string reason_;
  std::string cwd_;
};

}  // namespace leasehold
