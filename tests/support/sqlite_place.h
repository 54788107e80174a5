// A folder for an SQLite store, and how tests open it and use it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "store/sqlite/sqlite_store.h"
#include "support/manual_clock.h"
#include "support/records.h"
#include "support/temp_folder.h"

namespace leasehold {

struct SqlitePlace {
  std::string folder() const { return temp.path() + "/store"; }
  std::string database() const { return folder() + "/leases.db"; }

  SqliteOptions options() const {
    return {.folder = folder(), .machine_id = "this machine", .boot_id = "this boot"};
  }

  Result<std::unique_ptr<Store>> try_open() const { return open_sqlite_store(options(), clock); }
  Result<std::unique_ptr<Store>> try_open(const SqliteOptions& how) const {
    return open_sqlite_store(how, clock);
  }

  // Null, and a failure of the test, if it cannot be opened.
  std::unique_ptr<Store> open() const { return open(options()); }
  std::unique_ptr<Store> open(const SqliteOptions& how) const {
    auto store = try_open(how);
    if (store) return std::move(*store);
    ADD_FAILURE() << testing::PrintToString(store.error());
    return nullptr;
  }

  TempFolder temp;
  ManualClock clock;
};

inline Result<void> try_commit(Store& store, const std::function<void(Transaction&)>& writes,
                               bool gives_back = false, const std::string& workspace = kWorkspace) {
  return store.transact({.workspace = workspace, .gives_back = gives_back},
                        [&](Transaction& transaction) -> Result<void> {
                          writes(transaction);
                          return {};
                        });
}

inline void commit(Store& store, const std::function<void(Transaction&)>& writes) {
  const auto done = try_commit(store, writes);
  ASSERT_TRUE(done) << testing::PrintToString(done.error());
}

inline void look(Store& store, const std::function<void(View&)>& reads,
                 const std::string& workspace = kWorkspace) {
  const auto done = store.view({.workspace = workspace}, [&](View& view) -> Result<void> {
    reads(view);
    return {};
  });
  ASSERT_TRUE(done) << testing::PrintToString(done.error());
}

// "" if `result` is this error and says all of `parts`; else what it is.
template <class T>
std::string unless_error(const Result<T>& result, Code code, std::initializer_list<std::string> parts) {
  if (result) return "it worked";
  const bool says = std::ranges::all_of(
      parts, [&](const std::string& part) { return result.error().message.find(part) != std::string::npos; });
  return result.error().code == code && says ? "" : testing::PrintToString(result.error());
}

#define EXPECT_ERROR(result, code, ...) EXPECT_EQ(unless_error(result, code, {__VA_ARGS__}), "")

}  // namespace leasehold
