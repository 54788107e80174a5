// Whatever a body read must be as it was when its writes are committed: for each kind of record, somebody
// else changes it in between, and the body has to run again.
#include <gtest/gtest.h>

#include <functional>

#include "support/etcd_client.h"
#include "support/etcd_cluster.h"

namespace leasehold {
namespace {

struct Case {
  const char* name;
  Footprint footprint;
  std::function<void(Transaction&)> before;  // What is there; nothing: nothing is.
  std::function<void(Transaction&)> read;
  std::function<void(Transaction&)> change;
  std::function<void(Transaction&)> then;  // After `before`; nothing: nothing does.
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

void must_do(EtcdClient& client, const std::function<void(Transaction&)>& what) {
  const auto done =
      client.store->transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
        what(transaction);
        return {};
      });
  ASSERT_TRUE(done) << done.error().message;
}

Lease ended(Lease lease) {
  lease.status = Status::released;
  lease.ended_by = EndCause::released;
  return lease;
}

class EtcdCompare : public testing::TestWithParam<Case> {
 protected:
  // How often the body ran.
  int run() {
    EtcdClient first(url_);
    EtcdClient second(url_);
    for (const auto& happens : {GetParam().before, GetParam().then}) {
      if (happens) must_do(second, happens);
    }
    Footprint footprint = GetParam().footprint;
    footprint.workspace = kWorkspace;
    int runs = 0;
    const auto done = first.store->transact(footprint, [&](Transaction& transaction) -> Result<void> {
      GetParam().read(transaction);
      if (++runs == 1) must_do(second, GetParam().change);
      transaction.append(make_event(make_lease(99, "/elsewhere")));
      return {};
    });
    EXPECT_TRUE(done) << done.error().message;
    return runs;
  }

  const std::string url_ = fresh_etcd_url();
};

TEST_P(EtcdCompare, ABodyRunsAgainIfWhatItReadHasChanged) { EXPECT_EQ(run(), 2); }

RateWindow window(std::size_t calls) {
  return {.session_id = "s", .calls = calls, .ends_at = Time(std::chrono::hours(24 * 365 * 100))};
}

const SessionPath kSessionPath = {.session_id = "s", .path = "/a"};

void forget_all(Transaction& t) { t.forget(t.now(), WallTime::min(), 100); }

// Changes whoever waits for a path, and takes no notice of those who come behind.
void end_waits(Transaction& t) {
  for (Ticket ticket : t.tickets_at({"/a"})) {
    ticket.status = Status::failed;
    t.put(ticket);
  }
  t.let_line_grow("/a");
}

// Bob waits for a path, to have it alone; is granted it; and gives it back. That he is looked at first lets
// what says so stand for all of it.
void wait(Transaction& t) {
  t.lease_count(bob());
  Lease lease = make_lease(1, "/a", bob());
  lease.status = Status::pending;
  t.put(lease);
  Ticket ticket = make_ticket(1, {"/a"}, bob());
  ticket.leases = {lease.id};
  t.put(ticket);
}

void grant(Transaction& t) {
  t.lease_count(bob());
  Lease lease = *t.lease(lease_id(1));
  lease.status = Status::active;
  t.put(lease);
  Ticket ticket = *t.ticket(group_id(1));
  ticket.status = Status::active;
  t.put(ticket);
}

void give_back(Transaction& t) {
  t.lease_count(bob());
  t.put(ended(*t.lease(lease_id(1))));
}

void give_up(Transaction& t) {
  t.lease_count(bob());
  Ticket ticket = *t.ticket(group_id(1));
  ticket.status = Status::failed;
  t.put(ticket);
}

const Filter kBob = {.agent_id = bob().agent_id, .session_id = bob().session_id};

const Setting kSetting = {.key = "x", .value = "1", .type = "int"};

const Case kCases[] = {
    Case{"a lease that appears on a path",
         {.scopes = {{"/a"}}},
         nullptr,
         [](Transaction& t) { t.leases_at({"/a"}); },
         [](Transaction& t) { t.put(make_lease(1, "/a")); }},
    Case{"a lease that ends on a path",
         {.scopes = {{"/a"}}},
         [](Transaction& t) { t.put(make_lease(1, "/a")); },
         [](Transaction& t) { t.leases_at({"/a"}); },
         [](Transaction& t) { t.put(ended(*t.lease(lease_id(1)))); }},
    Case{"a lease on a directory above",
         {.scopes = {{"/a/b/c"}}},
         nullptr,
         [](Transaction& t) { t.leases_at({"/a/b/c"}); },
         [](Transaction& t) { t.put(make_lease(1, "/a")); }},
    Case{"a lease below a directory",
         {.scopes = {{"/a", true}}},
         nullptr,
         [](Transaction& t) { t.leases_at({"/a", true}); },
         [](Transaction& t) { t.put(make_lease(1, "/a/b/c")); }},
    Case{"a ticket that appears on a path",
         {.scopes = {{"/a"}}},
         nullptr,
         [](Transaction& t) { t.tickets_at({"/a"}); },
         [](Transaction& t) { t.put(make_ticket(1, {"/a"})); }},
    Case{"a lease by its id that was absent",
         {.leases = {lease_id(1)}},
         nullptr,
         [](Transaction& t) { t.lease(lease_id(1)); },
         [](Transaction& t) { t.put(make_lease(1, "/a")); }},
    Case{"an ended lease by its id",
         {.leases = {lease_id(1)}},
         [](Transaction& t) { t.put(ended(make_lease(1, "/a"))); },
         [](Transaction& t) { t.lease(lease_id(1)); },
         [](Transaction& t) {
           Lease lease = ended(make_lease(1, "/a"));
           lease.reason = "another";
           t.lease(lease.id);
           t.put(lease);
         }},
    Case{"a ticket by its id that was absent",
         {.tickets = {group_id(1)}},
         nullptr,
         [](Transaction& t) { t.ticket(group_id(1)); },
         [](Transaction& t) { t.put(make_ticket(1, {"/a"})); }},
    Case{"a ticket by its id",
         {.tickets = {group_id(1)}},
         [](Transaction& t) { t.put(make_ticket(1, {"/a"})); },
         [](Transaction& t) { t.ticket(group_id(1)); },
         [](Transaction& t) {
           Ticket ticket = *t.ticket(group_id(1));
           ticket.status = Status::failed;
           t.put(ticket);
         }},
    Case{"how many leases an owner has",
         {.owners = {ann()}},
         nullptr,
         [](Transaction& t) { t.lease_count(ann()); },
         [](Transaction& t) { t.put(make_lease(1, "/a", ann())); }},
    Case{"that an owner has a lease less",
         {.owners = {ann()}},
         [](Transaction& t) { t.put(make_lease(1, "/a", ann())); },
         [](Transaction& t) { t.lease_count(ann()); },
         [](Transaction& t) { t.put(ended(*t.lease(lease_id(1)))); }},
    Case{"an owner's notices",
         {.owners = {ann()}},
         nullptr,
         [](Transaction& t) { t.notices(ann()); },
         [](Transaction& t) { t.put(make_notice(1, make_lease(1, "/a", ann()))); }},
    Case{"what the gate remembers",
         {.owners = {ann()}},
         nullptr,
         [](Transaction& t) { t.contention(ann(), "/a"); },
         [](Transaction& t) { t.put(make_contention(ann(), "/a", make_lease(1, "/a", bob()))); }},
    Case{"the last lease of an owner on a path",
         {},
         nullptr,
         [](Transaction& t) { t.last_lease(ann(), "/a"); },
         [](Transaction& t) { t.put(ended(make_lease(1, "/a", ann()))); }},
    Case{"an answer that was absent",
         {},
         nullptr,
         [](Transaction& t) { t.answer(ann(), "key"); },
         [](Transaction& t) { t.put(make_answer("key", {make_lease(1, "/a", ann())})); }},
    Case{"an answer",
         {},
         [](Transaction& t) { t.put(make_answer("key", {make_lease(1, "/a", ann())})); },
         [](Transaction& t) { t.answer(ann(), "key"); },
         [](Transaction& t) { t.put(make_answer("key", {make_lease(2, "/a", ann())})); }},
    Case{"the calls of a session",
         {},
         [](Transaction& t) { t.put(window(1)); },
         [](Transaction& t) { t.rate_window("s"); },
         [](Transaction& t) { t.put(window(2)); }},
    Case{"the paths of a session",
         {},
         nullptr,
         [](Transaction& t) { t.session_paths("s"); },
         [](Transaction& t) { t.put(kSessionPath); }},
    Case{"a path of a session that it gave back",
         {},
         [](Transaction& t) { t.put(kSessionPath); },
         [](Transaction& t) { t.session_paths("s"); },
         [](Transaction& t) { t.erase(kSessionPath); }},
    Case{"calls of a session that are forgotten",
         {},
         [](Transaction& t) { t.put(RateWindow{.session_id = "s", .calls = 1, .ends_at = Time(1s)}); },
         forget_all,
         [](Transaction& t) { t.put(window(2)); }},
    Case{"a path of a session that is forgotten",
         {},
         [](Transaction& t) {
           SessionPath path = kSessionPath;
           path.drop_at = WallTime(1s);
           t.put(path);
         },
         forget_all,
         [](Transaction& t) { t.put(kSessionPath); }},
    Case{"the leases of an owner",
         {},
         nullptr,
         [](Transaction& t) { t.leases({.agent_id = ann().agent_id, .session_id = ann().session_id}); },
         [](Transaction& t) { t.put(make_lease(1, "/a", ann())); }},
    Case{"the leases of a session",
         {},
         nullptr,
         [](Transaction& t) { t.leases({.session_id = ann().session_id}); },
         [](Transaction& t) { t.put(make_lease(1, "/a", ann())); }},
    Case{"the leases of an agent",
         {},
         nullptr,
         [](Transaction& t) { t.leases({.agent_id = ann().agent_id}); },
         [](Transaction& t) { t.put(make_lease(1, "/a", ann())); }},
    Case{"the tickets of an owner",
         {},
         nullptr,
         [](Transaction& t) { t.tickets({.agent_id = bob().agent_id, .session_id = bob().session_id}); },
         [](Transaction& t) { t.put(make_ticket(1, {"/a"}, bob())); }},
    Case{"the tickets of a session",
         {},
         nullptr,
         [](Transaction& t) { t.tickets({.session_id = bob().session_id}); },
         [](Transaction& t) { t.put(make_ticket(1, {"/a"}, bob())); }},
    Case{"the tickets of an agent",
         {},
         nullptr,
         [](Transaction& t) { t.tickets({.agent_id = bob().agent_id}); },
         [](Transaction& t) { t.put(make_ticket(1, {"/a"}, bob())); }},
    Case{"what the gate remembers of anybody",
         {},
         nullptr,
         [](Transaction& t) { t.contentions({}); },
         [](Transaction& t) { t.put(make_contention(ann(), "/a", make_lease(1, "/a", bob()))); }},
    Case{"a ticket that is changed where others may come",
         {.scopes = {{"/a"}}},
         [](Transaction& t) { t.put(make_ticket(1, {"/a"})); },
         end_waits,
         [](Transaction& t) { t.put(*t.ticket(group_id(1))); }},
    Case{"a lease where others may come",
         {.scopes = {{"/a"}}},
         [](Transaction& t) { t.put(make_ticket(1, {"/a"})); },
         end_waits,
         [](Transaction& t) { t.put(make_lease(1, "/a")); }},
    Case{"a ticket that does not come behind",
         {.scopes = {{"/a"}}},
         [](Transaction& t) { t.put(make_ticket(1, {"/a"})); },
         end_waits,
         [](Transaction& t) { t.put(make_ticket(2, {"/a"}, ann())); }},
    Case{"that an owner got what it waited for",
         {.owners = {bob()}},
         wait,
         [](Transaction& t) { t.lease_count(bob()); },
         grant},
    Case{"that an owner waits no more",
         {.owners = {bob()}},
         wait,
         [](Transaction& t) { t.tickets(kBob); },
         give_up},
    Case{"that a session got what it waited for",
         {},
         wait,
         [](Transaction& t) { t.leases({.session_id = bob().session_id}); },
         grant},
    Case{"that an agent got what it waited for",
         {},
         wait,
         [](Transaction& t) { t.leases({.agent_id = bob().agent_id}); },
         grant},
    Case{"that an owner gave back what it had waited for",
         {.owners = {bob()}},
         wait,
         [](Transaction& t) { t.lease_count(bob()); },
         give_back,
         grant},
    Case{"that a session gave back what it had waited for",
         {},
         wait,
         [](Transaction& t) { t.leases({.session_id = bob().session_id}); },
         give_back,
         grant},
    Case{"that an agent gave back what it had waited for",
         {},
         wait,
         [](Transaction& t) { t.leases({.agent_id = bob().agent_id}); },
         give_back,
         grant},
    Case{"what an owner got who was only seen to wait",
         {},
         wait,
         [](Transaction& t) {
           t.tickets({});
           t.lease_count(bob());
         },
         grant},
    Case{"a lease that was only seen to be waited for",
         {},
         wait,
         [](Transaction& t) {
           t.tickets({});
           t.lease(lease_id(1));
         },
         grant},
    Case{"how a wait ended",
         {.tickets = {group_id(1)}},
         wait,
         [](Transaction& t) { t.ticket(group_id(1)); },
         give_up},
    Case{"a lease by its id that was waited for",
         {.leases = {lease_id(1)}},
         wait,
         [](Transaction& t) { t.lease(lease_id(1)); },
         grant},
    Case{"the settings",
         {},
         nullptr,
         [](Transaction& t) { t.settings(); },
         [](Transaction& t) { t.put(kSetting); }},
    Case{"a setting that is unset",
         {},
         [](Transaction& t) { t.put(kSetting); },
         [](Transaction& t) { t.settings(); },
         [](Transaction& t) { t.erase_setting(kSetting.stored_key()); }}};

std::string name_of(const testing::TestParamInfo<Case>& one) {
  std::string name = one.param.name;
  for (char& c : name) {
    if (c == ' ' || c == '\'') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Of, EtcdCompare, testing::ValuesIn(kCases), name_of);

// The other side of it: nobody who did not read it has to run again.
TEST(EtcdCompares, WhatWasNotReadMayChange) {
  const std::string url = fresh_etcd_url();
  EtcdClient first(url);
  EtcdClient second(url);
  int runs = 0;

  const auto done = first.store->transact(
      {.workspace = kWorkspace, .scopes = {{"/a"}}}, [&](Transaction& transaction) -> Result<void> {
        transaction.leases_at({"/a"});
        if (++runs == 1) must_do(second, [](Transaction& t) { t.put(make_lease(1, "/b")); });
        transaction.put(make_lease(2, "/a"));
        return {};
      });

  EXPECT_TRUE(done);
  EXPECT_EQ(runs, 1);
}

TEST(EtcdCompares, WhoComesBehindDoesNotDisturbThoseWhoSaidSo) {
  const std::string url = fresh_etcd_url();
  EtcdClient first(url);
  EtcdClient second(url);
  must_do(second, [](Transaction& t) { t.put(make_ticket(1, {"/a"})); });
  int runs = 0;

  const auto done = first.store->transact({.workspace = kWorkspace, .scopes = {{"/a"}}},
                                          [&](Transaction& transaction) -> Result<void> {
                                            end_waits(transaction);
                                            if (++runs == 1)
                                              must_do(second, [](Transaction& t) {
                                                t.put(make_ticket(2, {"/a"}, ann()));
                                                t.come_behind("/a", std::nullopt);
                                              });
                                            return {};
                                          });

  EXPECT_TRUE(done);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(second.waiting(), 1u);
}

}  // namespace
}  // namespace leasehold
