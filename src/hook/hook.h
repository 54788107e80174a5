// One call of a hook: from what the agent reports to what it is answered.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hook/hook_reply.h"
#include "hook/seen_files.h"
#include "leasehold/open.h"
#include "shell/find_writes.h"
#include "util/variables.h"
#include "workspace/workspace.h"

namespace leasehold {

// Never fails: what goes wrong is answered by the workspace's policy (gate_fail_open), which is to deny a
// write that nobody could check. In a folder that is not managed everything goes on.
class HookCall {
 public:
  // `cwd`: where we were started, if the payload does not say. `variables` outlives this.
  HookCall(HookHost host, std::string_view payload, std::string cwd, const Variables& variables);

  // What to say if the answer does not come in time.
  HookAnswer late_answer() const;

  HookAnswer answer();

 private:
  // What is to be written in one work tree.
  struct Part {
    std::unique_ptr<OpenWorkspace> workspace;
    std::vector<shell::Write> writes;
  };
  using Parts = std::map<std::string, Part>;  // By root.

  HookHost dialect() const;
  bool can_tell_now() const;
  Owner main_owner() const;
  Owner owner() const;
  Caller caller_in(const OpenWorkspace& workspace) const;
  bool main_has_stopped() const;
  HookAnswer decide();
  std::expected<Parts, HookAnswer> parts_by_tree();
  HookAnswer at_the_gate();
  void give_back_elsewhere(const OpenWorkspace& refusing);
  HookAnswer gate(OpenWorkspace& workspace, const std::vector<shell::Write>& writes);
  void keep(const OpenWorkspace& workspace, bool granted) const;
  HookAnswer deny(std::string reason) const;
  std::string take_news(OpenWorkspace& workspace);
  HookAnswer not_understood(const Error& error) const;
  std::vector<shell::Write> writes() const;
  std::vector<std::string> trees_taken_along(const std::vector<shell::Write>& writes) const;
  std::optional<std::string> change_since_seen(OpenWorkspace& workspace,
                                               const std::vector<std::string>& paths);
  HookAnswer after();
  HookAnswer after_command(const std::string& seen_folder, SeenFiles& seen);
  HookAnswer tell_late(SeenFiles& seen);
  const std::string& project() const;
  HookAnswer tell();
  HookAnswer tell(OpenWorkspace& workspace, bool has_room);
  void note_tree(const std::string& root);
  void note_session_in(const std::string& place);
  void forget_session_in(const std::string& place);
  HookAnswer tell_what_it_has(OpenWorkspace& workspace);
  // Where they are for the tree of a place; nothing: that is not managed, or has no room for them.
  std::optional<std::string> seen_folder(const std::string& place) const;
  SeenFiles* seen_files();
  SeenFiles& seen_in(const std::string& folder);
  const Result<Workspace>& tree_of(const std::string& place) const;
  Result<std::unique_ptr<OpenWorkspace>> open(const std::string& place, bool create) const;
  void go_on();
  // The project that `place` lies in says what becomes of a write that nobody could check.
  HookAnswer unchecked(const Error& error, const std::string& place) const;
  std::string late_store() const;
  bool mends(const Error& error) const;
  std::string absolute(const std::string& path) const;
  static std::string resolved(const std::string& path);
  std::string place() const;
  OpenOptions open_options(const std::string& place) const;

  const HookHost host_;
  Result<HookEvent> event_;
  std::string cwd_;
  const std::string started_in_;
  const Variables& variables_;
  mutable std::string project_;  // Empty: not looked for yet.
  // Each is looked for once: looking takes some twenty calls of the kernel.
  mutable std::map<std::string, Result<Workspace>> trees_;  // By place.
  std::map<std::string, SeenFiles> seen_;                   // By folder.
  std::map<OpenWorkspace*, std::vector<LeaseId>> granted_;  // By this call.
  std::string news_;                                        // To be told along with the answer.
};

}  // namespace leasehold
