// What the gate remembers: one record for each owner and path.
#include <algorithm>

#include "contract/store_contract.h"

namespace leasehold {
namespace {

Footprint owners_named() {
  Footprint footprint = nothing_named();
  footprint.owners = {ann(), bob()};
  return footprint;
}

std::vector<std::string> ids(const std::vector<Contention>& contentions) {
  std::vector<std::string> ids;
  for (const Contention& one : contentions) ids.push_back(one.id);
  std::ranges::sort(ids);
  return ids;
}

TEST_P(StoreContract, EveryFieldOfAContentionSurvives) {
  Contention plain = make_contention(ann(), "/a", make_lease(1, "/a", bob()));
  Contention odd = plain;
  odd.path = odd.wanted.paths.front().path = "/" + awkward_text();
  for (const Contention& contention : {filled_contention(), plain, odd}) {
    Footprint footprint = nothing_named();
    footprint.owners = {contention.owner()};
    const auto writes = [&](Transaction& transaction) { transaction.put(contention); };

    expect_reads(writes, footprint, [&](View& view) {
      EXPECT_EQ(view.contention(contention.owner(), contention.path), contention);
    });
  }
}

TEST_P(StoreContract, AContentionIsFoundByItsOwnerAndPath) {
  const Contention anns = make_contention(ann(), "/a", make_lease(1, "/a", bob()));
  const Contention bobs = make_contention(bob(), "/a", make_lease(1, "/a", ann()));
  const Contention other = make_contention(ann(), "/b", make_lease(1, "/b", bob()));

  const auto writes = [&](Transaction& transaction) {
    transaction.put(anns);
    transaction.put(bobs);
    transaction.put(other);
  };

  expect_reads(writes, owners_named(), [&](View& view) {
    EXPECT_EQ(view.contention(ann(), "/a"), anns);
    EXPECT_EQ(view.contention(bob(), "/a"), bobs);
    EXPECT_EQ(view.contention(ann(), "/b"), other);
    EXPECT_FALSE(view.contention(bob(), "/b"));
    EXPECT_FALSE(view.contention({ann().agent_id, "another"}, "/a"));
    EXPECT_EQ(ids(view.contentions({})), ids({anns, bobs, other}));
    EXPECT_EQ(ids(view.contentions({.agent_id = ann().agent_id})), ids({anns, other}));
    EXPECT_EQ(ids(view.contentions({.session_id = "another"})), ids({}));
  });
}

TEST_P(StoreContract, PutReplacesTheContentionOfTheSameOwnerAndPath) {
  Contention contention = make_contention(ann(), "/a", make_lease(1, "/a", bob()));
  commit([&](Transaction& transaction) { transaction.put(contention); });
  contention.state = ContentionState::halted;
  contention.id = "another";

  const auto writes = [&](Transaction& transaction) { transaction.put(contention); };

  expect_reads(writes, owners_named(), [&](View& view) {
    EXPECT_EQ(view.contention(ann(), "/a"), contention);
    EXPECT_EQ(view.contentions({}).size(), 1u);
  });
}

TEST_P(StoreContract, AnErasedContentionIsGoneAndTheOthersStay) {
  const Contention first = make_contention(ann(), "/a", make_lease(1, "/a", bob()));
  const Contention second = make_contention(ann(), "/b", make_lease(2, "/b", bob()));
  commit([&](Transaction& transaction) {
    transaction.put(first);
    transaction.put(second);
  });

  const auto writes = [&](Transaction& transaction) {
    transaction.erase(first);
    transaction.erase(make_contention(bob(), "/b", make_lease(2, "/b")));  // Was never there.
  };

  expect_reads(writes, owners_named(), [&](View& view) {
    EXPECT_FALSE(view.contention(ann(), "/a"));
    EXPECT_EQ(view.contention(ann(), "/b"), second);
  });
}

TEST_P(StoreContract, AContentionPastItsTimeIsForgotten) {
  Contention old = make_contention(ann(), "/a", make_lease(1, "/a", bob()));
  old.drop_at = ManualClock::kStart;
  const Contention young = make_contention(ann(), "/b", make_lease(1, "/b", bob()));
  commit([&](Transaction& transaction) {
    transaction.put(old);
    transaction.put(young);
  });

  std::size_t forgotten = 0;
  commit([&](Transaction& transaction) { forgotten = transaction.forget(Time{}, WallTime{}, 10); });

  EXPECT_EQ(forgotten, 1u);
  look([&](View& view) { EXPECT_EQ(ids(view.contentions({})), ids({young})); });
}

TEST_P(StoreContract, ContentionsStayInTheirWorkspace) {
  const Contention contention = make_contention(ann(), "/a", make_lease(1, "/a", bob()));
  commit([&](Transaction& transaction) { transaction.put(contention); });

  const auto looked = store->view({.workspace = "another"}, [&](View& view) -> Result<void> {
    EXPECT_FALSE(view.contention(ann(), "/a"));
    EXPECT_TRUE(view.contentions({}).empty());
    return {};
  });

  EXPECT_TRUE(looked);
}

}  // namespace
}  // namespace leasehold
