#include "workspace/origin_url.h"

#include <gtest/gtest.h>

namespace leasehold {
namespace {

TEST(OriginUrl, SpellingsOfOneRepositoryAreOneText) {
  for (const std::string_view url :
       {"git@github.com:Foo/bar.git", "github.com:foo/bar", "ssh://git@github.com/foo/bar",
        "ssh://git@github.com:22/foo/bar", "https://github.com/foo/bar",
        "https://user:pw@github.com/foo/bar.git/", "https://github.com//foo/bar.git",
        "HTTPS://GitHub.com/Foo/Bar", "git://github.com:9418/foo/bar.git",
        "git+ssh://git@github.com/foo/bar.git", "https://github.com/foo/bar?token=secret",
        "git@github.com:/foo/bar", "https://a:b@c@github.com/foo/bar"}) {
    EXPECT_EQ(normalised_origin(url), "github.com/foo/bar") << url;
  }
}

TEST(OriginUrl, OtherRepositoriesDiffer) {
  EXPECT_EQ(normalised_origin("https://github.com/foo/bar2"), "github.com/foo/bar2");
  EXPECT_EQ(normalised_origin("https://gitlab.com/foo/bar"), "gitlab.com/foo/bar");
  EXPECT_EQ(normalised_origin("git@host:~me/x.git"), "host/~me/x");
}

TEST(OriginUrl, AddressInBracketsIsAHost) {
  EXPECT_EQ(normalised_origin("ssh://git@[::1]:2222/foo"), "[::1]/foo");
  EXPECT_EQ(normalised_origin("git@[::1]:foo"), "[::1]/foo");
}

TEST(OriginUrl, PathOfThisMachineKeepsItsCase) {
  EXPECT_EQ(normalised_origin("/srv/Git/foo.git"), "/srv/Git/foo");
  EXPECT_EQ(normalised_origin("file:///srv/Git/foo.git/"), "/srv/Git/foo");
  EXPECT_EQ(normalised_origin("../up:stream"), "../up:stream");
  EXPECT_EQ(normalised_origin(""), "");
}

TEST(OriginUrl, SecretsAreNeverPartOfIt) {
  for (const std::string_view url :
       {"https://me:hunter2@host/x", "https://hunter2@host/x", "https://host/x#hunter2"}) {
    EXPECT_EQ(normalised_origin(url).find("hunter2"), std::string::npos) << url;
  }
}

TEST(OriginUrl, AnyTextIsTaken) {
  for (const std::string_view url :
       {"://", "http://", "@", ":", "[", "@[", "a:", "file://", "/", ".git", "//", "x://@:"}) {
    (void)normalised_origin(url);
  }
}

}  // namespace
}  // namespace leasehold
