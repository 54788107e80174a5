// What every store has to do, as store.h puts it. The tests stand in several files, by theme; each
// runs on every store of available_stores().
//
// A body may be run again by a store that met a conflict, so bodies here set what they report anew.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/store.h"
#include "support/manual_clock.h"
#include "support/records.h"
#include "support/stores.h"

namespace leasehold {

class StoreContract : public testing::TestWithParam<StoreFactory> {
 public:
  using Writes = std::function<void(Transaction&)>;
  using Reads = std::function<void(View&)>;

  void SetUp() override;

  // Another handle on the same data, for one more thread or process.
  std::unique_ptr<Store> open_again() { return site_->open(); }

  // Commits what `writes` does; anything but success fails the test.
  void commit(const Writes& writes) { commit_in(kWorkspace, writes); }
  void commit_in(const std::string& workspace, const Writes& writes);

  // Runs `writes`, and then changes its mind.
  void abort(const Writes& writes);

  // Runs `reads` in a view that names nothing but the workspace.
  void look(const Reads& reads) { look_in(kWorkspace, reads); }
  void look_in(const std::string& workspace, const Reads& reads);

  // What `reads` finds must be the same in the body that did `writes`, and after its commit in views
  // and in other bodies, whether it stays within the footprint or not. `reads` has the EXPECTs.
  void expect_reads(const Writes& writes, const Footprint& footprint, const Reads& reads);

  ManualClock clock;
  std::unique_ptr<Store> store;

 private:
  std::unique_ptr<StoreSite> site_;
};

// transact(), again for as long as the store gives up on conflicts: threads in a test are many and
// quick, and which of them gives up is not what is tested.
Result<void> transact_patiently(Store& store, const Footprint& footprint, const Store::Body& body);

// Runs `work` in so many threads at once, each with its number and a handle of its own, and waits.
void run_threads(StoreContract& test, int count, const std::function<void(int, Store&)>& work);

// A footprint that names the workspace only, so that every read is outside it.
Footprint nothing_named(const std::string& workspace = kWorkspace);
Footprint scope_named(const Scope& scope);
Footprint owner_named(const Owner& owner);

// What a test is about, sorted; a record found twice is there twice.
std::vector<LeaseId> ids(const std::vector<Lease>& leases);
std::vector<GroupId> ids(const std::vector<Ticket>& tickets);
std::vector<std::string> ids(const std::vector<Notice>& notices);
std::vector<std::string> paths(const std::vector<Lease>& leases);

std::vector<LeaseId> lease_ids(const std::vector<int>& numbers);
std::vector<GroupId> group_ids(const std::vector<int>& numbers);

// `lease`, ended at that moment.
Lease ended(Lease lease, Status status, Time at);
Ticket ended(Ticket ticket, Status status, Time at);

}  // namespace leasehold
