#pragma once

#include <string>
#include <string_view>

namespace leasehold {

// The same text for every way of writing where a repository was cloned from, so that all its clones agree:
//
//   git@github.com:Foo/bar.git                   -> github.com/foo/bar
//   ssh://git@github.com/foo/bar                 -> github.com/foo/bar
//   https://user:pw@github.com/foo/bar.git/      -> github.com/foo/bar
//   file:///srv/git/foo.git, /srv/git/foo        -> /srv/git/foo
//
// Scheme, user, password, port and query are dropped: they say how to get there, and some are secret. The
// case of host and path is dropped, as hosting services do. That two repositories are taken for one by this
// costs a needless wait; that one is taken for two would cost a clobbered file.
//
// A path on this machine keeps its case and stays relative if it was. Empty for an empty URL.
std::string normalised_origin(std::string_view url);

}  // namespace leasehold
