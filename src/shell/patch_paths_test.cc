#include "shell/patch_paths.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

using Paths = std::vector<std::string>;

TEST(PatchPaths, AreAllThatThePatchTouches) {
  EXPECT_EQ(patch_paths("*** Begin Patch\n"
                        "*** Add File: src/new file.cc\n"
                        "+int x;\n"
                        "*** Delete File: old.cc\n"
                        "*** Update File: src/from.cc\n"
                        "*** Move to: src/to.cc\n"
                        "@@ int main()\n"
                        "-a\n"
                        "+b\n"
                        "*** End Patch\n"),
            (Paths{"src/new file.cc", "old.cc", "src/from.cc", "src/to.cc"}));
}

TEST(PatchPaths, LinesOfFilesAreNoHeaders) {
  EXPECT_EQ(patch_paths("*** Begin Patch\n"
                        "*** Update File: a\n"
                        "@@\n"
                        " *** Add File: context\n"
                        "+*** Add File: added\n"
                        "-*** Delete File: removed\n"
                        "*** End of File\n"
                        "*** Add File: b\n"
                        "+*** Update File: c\n"
                        "*** End Patch"),
            (Paths{"a", "b"}));
}

TEST(PatchPaths, TakeWhatTheToolsTake) {
  EXPECT_EQ(patch_paths("<<'EOF'\n*** Begin Patch\n  *** Add File: a \r\n+x\n*** End Patch\nEOF\n"),
            Paths{"a"});
  EXPECT_EQ(patch_paths("*** Begin Patch\n*** Environment ID: e1\n*** Add File: /abs/a\n"), Paths{"/abs/a"});
  EXPECT_EQ(patch_paths("*** Begin Patch\n*** Update File: a\n*** Update File: a\n*** End Patch"),
            Paths{"a"});
  EXPECT_EQ(patch_paths("*** Begin Patch\n*** End Patch\n*** Add File: behind\n"), Paths{});
  EXPECT_EQ(patch_paths("--- a/x\n+++ b/x\n"), std::nullopt);
  EXPECT_EQ(patch_paths(""), std::nullopt);
}

}  // namespace
}  // namespace leasehold
