#include "init/default_settings.h"

namespace leasehold {

std::string_view default_settings() {
  return R"(# Leasehold guards this folder: agents hold a lease on the files they change.
# Nothing below is set yet. `lease config` has all settings, their values, and where each comes from.

# workspace = "my-project"       # A name of its own, instead of one made from the origin URL.
# scope = "worktree"             # "repo": all work trees and clones share their leases.
# store = "redis://host"         # Leases of several machines. Without it: SQLite, in the git folder.

# ttl = "5m"                     # How long a lease lasts that nobody renews.
# gate_retry = "3m"              # From a denied write to its one retry.
# gate_reads = false             # Ask about reads, too. (Run lease init again afterwards.)
# gate_stale_read = true         # Have agents read a file again that another changed since, before they write it.
# gate_fail_open = false         # Let writes pass that cannot be checked. (Run lease init again afterwards.)
# git_hook_required = false      # Refuse commits where lease is not installed.

# [pairs]                        # Which tests come along with which sources: docs/pairs.md
)";
}

}  // namespace leasehold
