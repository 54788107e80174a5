#include "contract/store_contract.h"

#include <algorithm>
#include <thread>

namespace leasehold {
namespace {

// The error of a body that changes its mind. No store answers with it by itself.
const Error kChangedMind{Code::halted, "changed my mind"};

template <class Record, class Part>
std::vector<Part> sorted(const std::vector<Record>& records, Part Record::* part) {
  std::vector<Part> parts;
  for (const Record& record : records) parts.push_back(record.*part);
  std::ranges::sort(parts);
  return parts;
}

}  // namespace

void StoreContract::SetUp() {
  if (!GetParam().missing.empty()) GTEST_SKIP() << GetParam().missing;
  site_ = GetParam().make(clock);
  store = site_->open();
}

void StoreContract::commit_in(const std::string& workspace, const Writes& writes) {
  const auto done = store->transact(nothing_named(workspace), [&](Transaction& transaction) -> Result<void> {
    writes(transaction);
    return {};
  });
  ASSERT_TRUE(done) << testing::PrintToString(done.error());
}

void StoreContract::abort(const Writes& writes) {
  const auto done = store->transact(nothing_named(), [&](Transaction& transaction) -> Result<void> {
    writes(transaction);
    return fail(kChangedMind);
  });
  ASSERT_FALSE(done);
  ASSERT_EQ(done.error(), kChangedMind);
}

void StoreContract::look_in(const std::string& workspace, const Reads& reads) {
  const auto done = store->view(nothing_named(workspace), [&](View& view) -> Result<void> {
    reads(view);
    return {};
  });
  ASSERT_TRUE(done) << testing::PrintToString(done.error());
}

void StoreContract::expect_reads(const Writes& writes, const Footprint& footprint, const Reads& reads) {
  {
    SCOPED_TRACE("in the body that wrote, within its footprint");
    const auto done = store->transact(footprint, [&](Transaction& transaction) -> Result<void> {
      writes(transaction);
      reads(transaction);
      return fail(kChangedMind);
    });
    ASSERT_FALSE(done);
    ASSERT_EQ(done.error(), kChangedMind);
  }
  {
    SCOPED_TRACE("in the body that wrote, outside its footprint");
    commit([&](Transaction& transaction) {
      writes(transaction);
      reads(transaction);
    });
  }
  for (const bool within : {true, false}) {
    const Footprint named = within ? footprint : nothing_named(footprint.workspace);
    const auto then_look = [&](View& view) -> Result<void> {
      reads(view);
      return {};
    };
    {
      SCOPED_TRACE(within ? "in a view, within its footprint" : "in a view, outside its footprint");
      ASSERT_TRUE(store->view(named, then_look));
    }
    {
      SCOPED_TRACE(within ? "in another body, within its footprint"
                          : "in another body, outside its footprint");
      ASSERT_TRUE(store->transact(named, then_look));
    }
  }
}

Result<void> transact_patiently(Store& store, const Footprint& footprint, const Store::Body& body) {
  auto done = store.transact(footprint, body);
  for (int again = 0; again < 1000 && !done && done.error().code == Code::transaction_conflict; ++again) {
    done = store.transact(footprint, body);
  }
  return done;
}

void run_threads(StoreContract& test, int count, const std::function<void(int, Store&)>& work) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < count; ++thread) {
    threads.emplace_back(
        [thread, &work, handle = std::shared_ptr(test.open_again())] { work(thread, *handle); });
  }
}

Footprint nothing_named(const std::string& workspace) {
  Footprint footprint;
  footprint.workspace = workspace;
  return footprint;
}

Footprint scope_named(const Scope& scope) {
  Footprint footprint = nothing_named();
  footprint.scopes = {scope};
  return footprint;
}

Footprint owner_named(const Owner& owner) {
  Footprint footprint = nothing_named();
  footprint.owners = {owner};
  return footprint;
}

std::vector<LeaseId> ids(const std::vector<Lease>& leases) { return sorted(leases, &Lease::id); }
std::vector<GroupId> ids(const std::vector<Ticket>& tickets) { return sorted(tickets, &Ticket::id); }
std::vector<std::string> ids(const std::vector<Notice>& notices) { return sorted(notices, &Notice::id); }
std::vector<std::string> paths(const std::vector<Lease>& leases) { return sorted(leases, &Lease::path); }

std::vector<LeaseId> lease_ids(const std::vector<int>& numbers) {
  std::vector<LeaseId> ids;
  for (const int number : numbers) ids.push_back(lease_id(number));
  return ids;
}

std::vector<GroupId> group_ids(const std::vector<int>& numbers) {
  std::vector<GroupId> ids;
  for (const int number : numbers) ids.push_back(group_id(number));
  return ids;
}

Lease ended(Lease lease, Status status, Time at) {
  lease.status = status;
  lease.ended_by = status == Status::released ? EndCause::released : EndCause::expired;
  lease.updated_at = at;
  return lease;
}

Ticket ended(Ticket ticket, Status status, Time at) {
  ticket.status = status;
  ticket.ended_by = status == Status::failed ? EndCause::timed_out : EndCause::none;
  ticket.ended_at = at;
  return ticket;
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(available_stores()),
                         [](const auto& factory) { return factory.param.name; });

}  // namespace leasehold
