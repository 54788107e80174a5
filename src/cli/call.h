// One call of the program: what was asked, by whom, and where the answer goes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/identity.h"
#include "cli/output.h"
#include "leasehold/open.h"
#include "wire/moment.h"
#include "workspace/workspace.h"

namespace leasehold {

class Call {
 public:
  // `words`: all that stands behind the command's name.
  Call(const Command& command, std::span<const std::string_view> words, Arguments arguments, Output output)
      : command_(command), words_(words), arguments_(std::move(arguments)), out_(output) {}

  const Command& command() const { return command_; }
  const Arguments& arguments() const { return arguments_; }
  const Output& out() const { return out_; }

  // The folder that was asked for (-C), else where the program was started. Error: invalid_path.
  Result<std::string> place() const;

  // Opens the workspace at the first call. `create`: also make a store where there is none; but with
  // `only_managed` not in a folder that nobody asked to guard: that is not_found. Who names a store asks.
  Result<OpenWorkspace*> workspace(bool create = false, bool only_managed = false);
  // The same, and makes the store where there is none, but only if `is_right` has nothing against it. It gets
  // the workspace with an empty store that nobody else sees: a wrong call must leave nothing behind, since a
  // tree with a store is a managed one.
  Result<OpenWorkspace*> workspace_to_begin(const std::function<Result<void>(OpenWorkspace&)>& is_right);
  // The same for one quick question: a server of the embedded store may answer it.
  Result<OpenWorkspace*> workspace_to_ask();
  // Another one, that guards a file outside of that.
  Result<std::unique_ptr<OpenWorkspace>> other_workspace(Workspace workspace);

  // For commands that look at files only: makes no store, and asks none.
  Result<OpenWorkspace*> workspace_without_store();

  // What would count if it were opened, but for what the store says.
  Result<std::vector<EffectiveSetting>> settings_without_store() const;

  // For whom the command acts, with the flags --agent, --session and, if it is the command's, --pr.
  const Identity& identity();
  // The same as a caller whose session is its own as a whole. `watched`: with the process whose death ends
  // what it gets.
  Caller caller(bool watched = false);

  // What paths are relative to, once the workspace is open.
  const std::string& cwd() const { return cwd_; }

  // The operands, with "-" replaced by what standard input lists.
  // Errors: invalid_argument.
  Result<std::vector<std::string>> paths();
  // The key of one, or of a folder as answers print it: docs/**, /docs/**. Errors: those of the workspace.
  Result<std::string> key(const std::string& path) const;
  // Their keys. Errors: those of the workspace.
  Result<std::vector<std::string>> keys(const std::vector<std::string>& paths) const;

  // When it is, for the store that has `path`. For documents: texts get along with durations.
  Result<Moment> moment(const std::string& path);

  // The same call as one that waits, to be pasted. `has_waited`: as it is it does so already.
  std::string waiting(bool has_waited) const;

  // What this call says about who acts and on which store, to stand behind another command: " --agent ann".
  std::string shared_options() const;

  // What a refusal exits with: its code's status, unless the user chose another for conflicts.
  Result<int> exit_status(Code code) const;

 private:
  Result<OpenWorkspace*> open(OpenOptions options);
  Result<OpenOptions> completed(OpenOptions options, const std::string& place) const;

  const Command& command_;
  std::span<const std::string_view> words_;
  Arguments arguments_;
  Output out_;
  std::string cwd_;
  std::vector<std::string> listed_;  // What standard input listed.
  std::unique_ptr<OpenWorkspace> workspace_;
  std::optional<Identity> identity_;
};

// The settings that stand on the command line: --set, --store, --profile. Error: invalid_argument.
Result<std::map<std::string, std::string>> settings_of(const Arguments& arguments);

// Where the program was started. Error: invalid_path.
Result<std::string> current_folder();

// Whether an answer means that somebody else is in the way.
bool is_conflict(Code code);

// Prints an error that ended the command, as text or as a document, and returns what to exit with.
int report(const Output& out, const Error& error);

}  // namespace leasehold
