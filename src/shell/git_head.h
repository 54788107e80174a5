// What is checked out, as git's own files tell it.
#pragma once

#include <string>
#include <string_view>

#include "shell/follower.h"

namespace leasehold::shell {

class GitHead {
 public:
  // Of the work tree whose top is `tree`.
  GitHead(Follower& follower, const std::string& tree);

  // Whether `name` (a branch, a remote's branch, a commit) is surely the commit that is checked out. A name
  // that its files do not tell, or that the command line itself may have moved, is not.
  bool is_at(std::string_view name) const;

  // The command line goes on with another commit or branch checked out, or with other branches.
  void note_moved();
  void note_branches();

  // Where git's own files of this work tree are: HEAD, the index.
  const std::string& folder() const { return own_; }

 private:
  std::string commit_of(std::string_view ref) const;

  Follower& follower_;
  std::string own_;     // Where HEAD is.
  std::string common_;  // Where branches are; a linked work tree shares them.
};

}  // namespace leasehold::shell
