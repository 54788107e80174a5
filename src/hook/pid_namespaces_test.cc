#include "hook/pid_namespaces.h"

#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace leasehold {
namespace {

TEST(PidNamespaces, OneAloneIsSharedWithNobody) {
  const TempFolder folder;
  const Machine machine = {.machine_id = "m", .boot_id = "b", .pid_namespace = 7};
  EXPECT_FALSE(is_shared_between_namespaces(folder.path(), machine));
  EXPECT_FALSE(is_shared_between_namespaces(folder.path(), machine));
}

TEST(PidNamespaces, EachLearnsOfTheOther) {
  const TempFolder folder;
  const Machine outside = {.machine_id = "m", .boot_id = "b", .pid_namespace = 7};
  const Machine inside = {.machine_id = "m", .boot_id = "b", .pid_namespace = 8};
  EXPECT_FALSE(is_shared_between_namespaces(folder.path(), outside));
  EXPECT_TRUE(is_shared_between_namespaces(folder.path(), inside));
  EXPECT_TRUE(is_shared_between_namespaces(folder.path(), outside));
}

TEST(PidNamespaces, ThoseBeforeARebootAreGone) {
  const TempFolder folder;
  EXPECT_FALSE(is_shared_between_namespaces(folder.path(), {"m", "before", 7}));
  EXPECT_FALSE(is_shared_between_namespaces(folder.path(), {"m", "now", 8}));
}

TEST(PidNamespaces, TheMachineItselfIsNoContainer) {
  const TempFolder folder;
  EXPECT_FALSE(is_container_with_shared_folder(folder.path(), {"m", "b", 4026531836}));
  EXPECT_FALSE(is_container_with_shared_folder(folder.path(), {"m", "b", 0}));
  EXPECT_TRUE(is_container_with_shared_folder("/proc", {"m", "b", 7})) << "another file system than the root";
}

}  // namespace
}  // namespace leasehold
