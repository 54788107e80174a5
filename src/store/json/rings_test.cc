#include "store/json/rings.h"

#include <gtest/gtest.h>

#include "support/records.h"

namespace leasehold {
namespace {

TEST(Ring, IsReadAsItWasWritten) {
  Ring ring = {.origin = "0/x", .ticket = filled_ticket(), .leases = {filled_lease(), extreme_lease()}};
  ring.next = {.workspace = "w", .path = "/a", .owner = bob(), .leases = {lease_id(1), lease_id(2)}};

  const Ring read = ring_from(to_text(ring));

  EXPECT_EQ(read.origin, "0/x");
  EXPECT_EQ(read.ticket, ring.ticket);
  EXPECT_EQ(read.leases, ring.leases);
  EXPECT_EQ(read.next.workspace, "w");
  EXPECT_EQ(read.next.path, "/a");
  EXPECT_EQ(read.next.owner, bob());
  EXPECT_EQ(read.next.leases, ring.next.leases);
}

TEST(Ring, WhatIsNotOurTextTellsNothing) {
  for (const std::string& text :
       {std::string(), std::string("17"), std::string("t{}\0l{\0", 7), std::string(3, '\0')})
    EXPECT_FALSE(ring_from(text).ticket) << text;
}

// Whoever sent it may be another version, or no lease at all.
TEST(Ring, WhatIsCutShortOrLongerTellsNothing) {
  const std::string text = to_text({.ticket = filled_ticket(), .leases = {filled_lease(), extreme_lease()}});

  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(ring_from(text.substr(0, size)).ticket) << size;
  EXPECT_FALSE(ring_from(text + '!').ticket);
}

TEST(Ring, OfAnotherLayoutTellsNothing) {
  std::string text = to_text({.ticket = filled_ticket(), .leases = {filled_lease()}});
  ASSERT_TRUE(ring_from(text).ticket);
  ++text.front();
  EXPECT_FALSE(ring_from(text).ticket);
}

TEST(Ring, OfAnythingElseIsReadWithoutHarm) {
  const std::string text = to_text({.ticket = filled_ticket(), .leases = {filled_lease()}});
  for (std::size_t place = 1; place < text.size(); ++place) {
    for (const char other : {'\0', '\x7f', '\xff'}) {
      std::string changed = text;
      changed[place] = other;
      const Ring read = ring_from(changed);
      EXPECT_TRUE(!read.ticket || !word(read.ticket->status).empty()) << place;
    }
  }
}

TEST(Ring, OfAGrantWithMuchTextSaysOnlyWhoIsNext) {
  Ring ring = {.ticket = filled_ticket(), .leases = std::vector<Lease>(1'000, filled_lease())};
  ring.next = {.workspace = "w", .path = "/a", .owner = bob(), .leases = {}};

  const std::string text = to_text(ring);

  EXPECT_LT(text.size(), 100U);
  EXPECT_FALSE(ring_from(text).ticket);
  EXPECT_EQ(ring_from(text).next.owner, bob());
}

// What somebody got since may be what this one got before.
TEST(Rings, AnEarlierOneIsNotToldAfterALaterOne) {
  Rings rings;
  rings.note({"first"}, "", 1);
  rings.note({"second"}, "", 2);
  rings.note({"third"}, "", 2);

  EXPECT_TRUE(rings.take({"second"}));
  EXPECT_FALSE(rings.take({"first"}));
  EXPECT_TRUE(rings.take({"third"}));
}

// One store serves several workspaces, and each may have a file of that name.
TEST(Rings, WhoIsNextIsToldInItsWorkspaceOnly) {
  Rings rings;
  for (const char* workspace : {"one", "two"}) {
    Ring ring;
    ring.next = {.workspace = workspace, .path = "/a", .owner = {workspace, "s"}, .leases = {}};
    rings.note({workspace}, to_text(ring));
    rings.take({workspace});
  }

  EXPECT_EQ(rings.take_next("one", "/a").owner.agent_id, "one");
  EXPECT_EQ(rings.take_next("two", "/a").owner.agent_id, "two");
  EXPECT_EQ(rings.take_next("one", "/a").owner.agent_id, "") << "it is told once";
}

}  // namespace
}  // namespace leasehold
