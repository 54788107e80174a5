#include "util/stable_hash.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

// Stored in every record: if this fails, the hash was changed and must be changed back.
TEST(StableHash, IsTheSameForEver) {
  EXPECT_EQ(stable_hash({}), "cbf29ce484222325");
  EXPECT_EQ(stable_hash({""}), "af63bd4c8601b7df");
  EXPECT_EQ(stable_hash({"origin", "github.com/foo/bar"}), stable_hash({"origin", "github.com/foo/bar"}));
}

TEST(StableHash, PartsDoNotRunTogether) { EXPECT_NE(stable_hash({"ab", "c"}), stable_hash({"a", "bc"})); }

}  // namespace
}  // namespace leasehold
