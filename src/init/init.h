// lease init: what has to change in a project so that its agents and its git ask us, and how it is taken
// back.
//
// Everything is planned before anything is written. An agent whose files cannot be understood or changed is
// left out as a whole, and so is git; the others go on.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "init/agent_hooks.h"
#include "init/file_change.h"
#include "init/git_hooks.h"
#include "leasehold/result.h"
#include "util/variables.h"
#include "workspace/workspace.h"

namespace leasehold {

struct InitRequest {
  Workspace workspace;
  std::vector<HookHost> hosts;
  HookWishes wishes;
  std::optional<GitPlace> git;    // Nothing: hooks of git are left alone.
  std::optional<Error> no_git;    // Why there are none, where they were asked for.
  bool project_settings = false;  // Also make, or take away, .leasehold.toml.
  Variables variables;            // For where the user's home is. Empty: nothing is changed there.
};

// Only what the project says: its hooks are for everybody who works on it.
HookWishes wishes_of(const Workspace& workspace);

using InitStep = std::variant<FileMove, FileChange, GitSection>;

// What is not done, and why: with the file, the line and what to do about it.
struct Refusal {
  std::string part;  // An agent's word, with " tools" behind it for its MCP server alone; or git.
  Error error;
};

struct InitPlan {
  std::vector<InitStep> steps;  // To be done in this order.
  std::vector<Refusal> refused;

  bool is_done() const { return steps.empty() && refused.empty(); }
};

// Errors: config_error (.leasehold.toml cannot be read).
Result<InitPlan> plan_install(const InitRequest& request);
Result<InitPlan> plan_uninstall(const InitRequest& request);

// Stops at the first step that fails; those before it stay done, and running it again does the rest.
Result<void> carry_out(const InitPlan& plan, const std::string& root);

// The agents that are on PATH, have a folder in the user's home or left one in this project.
std::vector<HookHost> installed_hosts(const std::string& root, const Variables& variables);

// Where on PATH a program is. Nothing: it is not there.
std::optional<std::string> on_path(std::string_view program, const Variables& variables);

// Whether a host of this project calls us, as far as its files tell.
bool calls_us(const std::string& root, HookHost host);

}  // namespace leasehold
