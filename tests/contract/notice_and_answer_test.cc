// What is kept for an owner: notices until they are delivered, answers until they are too old.
#include "contract/store_contract.h"

namespace leasehold {
namespace {

Footprint owners_named() {
  Footprint footprint = nothing_named();
  footprint.owners = {ann(), bob()};
  return footprint;
}

TEST_P(StoreContract, NoticesAreKeptForTheirOwner) {
  Lease folder = make_lease(2, "/a", bob());
  folder.subtree = true;
  const auto writes = [&](Transaction& transaction) {
    transaction.put(make_notice(1, make_lease(1, "/a")));
    transaction.put(make_notice(2, make_lease(1, "/a")));
    transaction.put(make_notice(3, folder));
  };

  expect_reads(writes, owners_named(), [&](View& view) {
    EXPECT_EQ(ids(view.notices(ann())), (std::vector{notice_id(1), notice_id(2)}));
    EXPECT_EQ(view.notices(bob()), std::vector{make_notice(3, folder)});
    EXPECT_TRUE(view.notices({"cyd", ""}).empty());
  });
}

TEST_P(StoreContract, PutReplacesTheNoticeWithTheSameId) {
  commit([&](Transaction& transaction) { transaction.put(make_notice(1, make_lease(1, "/a"))); });
  Notice changed = make_notice(1, make_lease(1, "/a"));
  changed.reason = "another";

  const auto writes = [&](Transaction& transaction) { transaction.put(changed); };

  expect_reads(writes, owners_named(),
               [&](View& view) { EXPECT_EQ(view.notices(ann()), std::vector{changed}); });
}

TEST_P(StoreContract, AnErasedNoticeIsGoneAndTheOthersStay) {
  const Notice first = make_notice(1, make_lease(1, "/a"));
  const Notice second = make_notice(2, make_lease(1, "/a"));
  commit([&](Transaction& transaction) {
    transaction.put(first);
    transaction.put(second);
  });

  const auto writes = [&](Transaction& transaction) {
    const Notice third = make_notice(3, make_lease(1, "/a"));
    transaction.put(third);
    transaction.erase(third);
    transaction.erase(first);
    transaction.erase(make_notice(4, make_lease(1, "/a")));  // Was never there.
  };

  expect_reads(writes, owners_named(),
               [&](View& view) { EXPECT_EQ(view.notices(ann()), std::vector{second}); });
}

TEST_P(StoreContract, AnErasedNoticeCanBePutAgain) {
  const Notice notice = make_notice(1, make_lease(1, "/a"));
  commit([&](Transaction& transaction) { transaction.put(notice); });

  const auto writes = [&](Transaction& transaction) {
    transaction.erase(notice);
    transaction.put(notice);
  };

  expect_reads(writes, owners_named(),
               [&](View& view) { EXPECT_EQ(view.notices(ann()), std::vector{notice}); });
}

TEST_P(StoreContract, AnAnswerIsFoundByItsOwnerAndKey) {
  const Answer anns = make_answer("key", {make_lease(1, "/a")});
  const Answer bobs = make_answer("key", {make_lease(2, "/b", bob())});
  const Answer other = make_answer("key 2", {});

  const auto writes = [&](Transaction& transaction) {
    transaction.put(anns);
    transaction.put(bobs);
    transaction.put(other);
  };

  expect_reads(writes, owners_named(), [&](View& view) {
    EXPECT_EQ(view.answer(ann(), "key"), anns);
    EXPECT_EQ(view.answer(bob(), "key"), bobs);
    EXPECT_EQ(view.answer(ann(), "key 2"), other);
    EXPECT_FALSE(view.answer(bob(), "key 2"));
    EXPECT_FALSE(view.answer(ann(), ""));
    EXPECT_FALSE(view.answer(ann(), "KEY"));
    EXPECT_FALSE(view.answer(ann(), "key "));
    EXPECT_FALSE(view.answer({ann().agent_id, ""}, "key"));
  });
}

TEST_P(StoreContract, PutReplacesTheAnswerUnderTheSameKey) {
  commit([&](Transaction& transaction) { transaction.put(make_answer("key", {})); });
  const Answer changed = make_answer("key", {make_lease(1, "/a")});

  const auto writes = [&](Transaction& transaction) { transaction.put(changed); };

  expect_reads(writes, owners_named(), [&](View& view) { EXPECT_EQ(view.answer(ann(), "key"), changed); });
}

TEST_P(StoreContract, AnswersWhoseOwnerAndKeyReadTheSameTogetherStayApart) {
  const auto put = [](Transaction& transaction, const Owner& owner, const std::string& key,
                      const std::string& hash) {
    Answer answer = make_answer(key, {});
    answer.owner = owner;
    answer.request_hash = hash;
    transaction.put(answer);
  };

  const auto writes = [&](Transaction& transaction) {
    put(transaction, {"a", "b"}, "c:d", "1");
    put(transaction, {"a", "b:c"}, "d", "2");
    put(transaction, {"a:b", "c"}, "d", "3");
    put(transaction, {"a", ""}, "b:c:d", "4");
  };

  expect_reads(writes, owners_named(), [](View& view) {
    EXPECT_EQ(view.answer({"a", "b"}, "c:d").value().request_hash, "1");
    EXPECT_EQ(view.answer({"a", "b:c"}, "d").value().request_hash, "2");
    EXPECT_EQ(view.answer({"a:b", "c"}, "d").value().request_hash, "3");
    EXPECT_EQ(view.answer({"a", ""}, "b:c:d").value().request_hash, "4");
  });
}

}  // namespace
}  // namespace leasehold
