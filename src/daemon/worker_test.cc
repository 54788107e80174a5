#include "daemon/worker.h"

#include <gtest/gtest.h>

#include <future>
#include <map>
#include <memory>

#include "support/sqlite_place.h"

namespace leasehold::daemon {
namespace {

struct Put {
  int number;
  bool fails = false;  // After it wrote.
};

struct Grouping : testing::Test {
  Job job(Put put) {
    return {.call =
                [this, put] {
                  ++calls;
                  results[put.number] = store->transact(
                      {.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
                        transaction.put(make_lease(put.number, "/" + std::to_string(put.number)));
                        if (put.fails) return fail(Code::limit_exceeded, "that was too much");
                        return {};
                      });
                },
            .undo = [this] { ++undone; },
            .done = [this](const Result<void>& kept) { answered += kept.has_value() ? 1 : 0; }};
  }
  // Runs them in one group.
  void run(const std::vector<Put>& puts) {
    std::promise<void> begun;
    std::promise<void> go;
    Worker worker(*store, {.answer_by = [](const std::function<void()>& answers) { answers(); }});
    worker.submit({.call =
                       [&] {
                         begun.set_value();
                         go.get_future().wait();
                       },
                   .done = [](const Result<void>&) {}});
    begun.get_future().wait();
    for (const Put& put : puts) worker.submit(job(put));
    go.set_value();
    worker.finish();
  }

  SqlitePlace place;
  std::unique_ptr<Store> store = place.open();
  std::map<int, Result<void>> results;
  int calls = 0;
  int undone = 0;
  int answered = 0;
};

TEST_F(Grouping, EachIsDoneOnceWhereNoneFails) {
  run({{1}, {2}});

  EXPECT_EQ(calls, 2);
  EXPECT_EQ(answered, 2);
  look(*store, [](View& view) { EXPECT_EQ(view.leases({}).size(), 2u); });
}

TEST_F(Grouping, OneThatFailsAfterItWroteCostsTheOthersTimeOnly) {
  run({{1}, {.number = 2, .fails = true}, {3}});

  EXPECT_EQ(calls, 6);
  EXPECT_EQ(undone, 3);
  EXPECT_EQ(answered, 3);
  EXPECT_TRUE(results[1]);
  ASSERT_FALSE(results[2]);
  EXPECT_EQ(results[2].error().code, Code::limit_exceeded);
  EXPECT_TRUE(results[3]);
  look(*store, [](View& view) {
    EXPECT_TRUE(view.lease(lease_id(1)));
    EXPECT_FALSE(view.lease(lease_id(2)));
    EXPECT_TRUE(view.lease(lease_id(3)));
  });
}

}  // namespace
}  // namespace leasehold::daemon
