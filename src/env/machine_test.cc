#include "env/machine.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "env/invented_proc.h"
#include "util/read_file.h"

namespace leasehold {
namespace {

constexpr auto kId = "0123456789abcdef0123456789abcdef";
constexpr auto kOtherId = "ffffffffffffffffffffffffffffffff";
constexpr auto kBoot = "01234567-89ab-cdef-0123-456789abcdef";

TEST(Machine, IsReadFromItsFiles) {
  const InventedProc world;
  world.file("etc/machine-id", std::string(kId) + "\n");
  world.file("proc/sys/kernel/random/boot_id", std::string(kBoot) + "\n");
  std::filesystem::remove(world.proc() + "/self");
  world.file("proc/self/ns/pid", "");
  struct stat found{};
  ASSERT_EQ(::stat((world.proc() + "/self/ns/pid").c_str(), &found), 0);

  const Machine machine = read_machine(world.root());

  EXPECT_EQ(machine, (Machine{kId, kBoot, found.st_ino}));
}

TEST(Machine, HasTheIdOfDbusWhereThereIsNoOther) {
  const InventedProc world;
  world.file("var/lib/dbus/machine-id", std::string(kId) + "\n");
  EXPECT_EQ(read_machine(world.root()).machine_id, kId);

  world.file("etc/machine-id", "\n");
  EXPECT_EQ(read_machine(world.root()).machine_id, kId);

  world.file("etc/machine-id", std::string(kOtherId) + "\n");
  EXPECT_EQ(read_machine(world.root()).machine_id, kOtherId);
}

TEST(Machine, HasNoIdWhereTheFileSaysSomethingElse) {
  const InventedProc world;
  for (const std::string text : {"", "\n", "uninitialized\n", "0123", "----",
                                 "0123456789abcdef0123456789abcdeg", "0123456789abcdef0123456789abcdef0"}) {
    world.file("etc/machine-id", text);
    EXPECT_EQ(read_machine(world.root()).machine_id, "") << text;
  }
}

TEST(Machine, IsEmptyWhereNothingCanBeRead) { EXPECT_EQ(read_machine("/nowhere"), Machine()); }

TEST(Machine, KnowsTheOffsetOfItsTimeNamespace) {
  using std::chrono::nanoseconds;
  const InventedProc world;
  std::filesystem::remove(world.proc() + "/self");
  const std::pair<std::string, nanoseconds> cases[] = {
      {"monotonic           7         0\nboottime            0         0\n", nanoseconds(0)},
      {"monotonic           0         0\nboottime           10   5000000\n", nanoseconds(10'005'000'000)},
      {"monotonic           0         0\nboottime          -10 990000000\n", nanoseconds(-9'010'000'000)},
      {"boottime", nanoseconds(0)},
      {"boottime x y", nanoseconds(0)},
      {"boottime 99999999999999999999999 5", nanoseconds(5)},
      {"", nanoseconds(0)},
  };
  for (const auto& [text, offset] : cases) {
    world.file("proc/self/timens_offsets", text);
    EXPECT_EQ(read_machine(world.root()).boottime_offset, offset) << text;
  }
}

TEST(Machine, OfThisProcessIsKnown) {
  const Machine machine = read_machine();

  EXPECT_EQ(machine.boot_id + "\n", read_file("/proc/sys/kernel/random/boot_id", 100).value_or(""));
  EXPECT_NE(machine.pid_namespace, 0u);
}

}  // namespace
}  // namespace leasehold
