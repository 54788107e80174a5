// A dead agent's files are free at once, without waiting for their time.
#include <gtest/gtest.h>

#include "scene.h"

namespace leasehold {
namespace {

using DeadAgent = Scene;

TEST_F(DeadAgent, LeavesItsFilesToTheNext) {
  // A process by the name of an agent, which starts the command as agents do: through a shell.
  std::ofstream(root() + "/agent") << "sh -c '" LEASE_BINARY
                                      " acquire -q src/b.ts && touch held'\nsleep 600\n";
  std::vector<std::string> arguments = {"claude", root() + "/agent"};
  std::vector<std::string> variables = environment("ann");
  variables.push_back("PATH=/usr/bin:/bin");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, root().c_str());
  // A group of its own, so that what it started can be ended with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  ASSERT_EQ(posix_spawn(&pid, "/bin/bash", &actions, &attributes, pointers(arguments).data(),
                        pointers(variables).data()),
            0);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  const bool held = eventually([&] { return std::filesystem::exists(root() + "/held"); });
  const Ran refused = as("bob", {"acquire", "src/b.ts"});

  kill(-pid, SIGKILL);
  waitpid(pid, nullptr, 0);

  ASSERT_TRUE(held);
  EXPECT_EQ(refused.exit, 75);
  EXPECT_TRUE(contains(refused.err, "pid " + std::to_string(pid))) << refused.err;
  EXPECT_TRUE(contains(refused.err, "alive")) << refused.err;
  EXPECT_EQ(as("bob", {"acquire", "src/b.ts"}).exit, 0);
  EXPECT_TRUE(contains(as("bob", {"history"}).out, "owner_dead"));
}

}  // namespace
}  // namespace leasehold
