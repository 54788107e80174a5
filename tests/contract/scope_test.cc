// Which leases and tickets a scope finds. Paths are names, byte by byte: nothing in them is a
// pattern, and only '/' separates.
#include <algorithm>

#include "contract/store_contract.h"
#include "store/stored.h"

namespace leasehold {
namespace {

using Paths = std::vector<std::string>;

Paths sorted(Paths paths) {
  std::ranges::sort(paths);
  return paths;
}

// The first path of each ticket.
Paths paths(const std::vector<Ticket>& tickets) {
  Paths found;
  for (const Ticket& ticket : tickets) found.push_back(ticket.request->paths[0].path);
  return sorted(found);
}

std::vector<InLine> by_ticket(std::vector<InLine> line) {
  std::ranges::sort(line, {}, &InLine::ticket);
  return line;
}

struct Sight {
  Paths held;    // On each of these there is a lease and a ticket,
  bool subtree;  // all of them for subtrees, or none.
  Scope wanted;  // Looking here
  Paths found;   // finds these of them.
};

void expect_sight(StoreContract& test, const Sight& sight) {
  const auto put_leases = [&](Transaction& transaction) {
    int number = 0;
    for (const std::string& path : sight.held) {
      Lease lease = make_lease(++number, path);
      lease.subtree = sight.subtree;
      transaction.put(lease);
    }
  };
  const auto put_tickets = [&](Transaction& transaction) {
    int number = 0;
    for (const std::string& path : sight.held) {
      Ticket ticket = make_ticket(++number, {path});
      ticket.request.own().paths[0].subtree = sight.subtree;
      transaction.put(ticket);
    }
  };

  test.expect_reads(put_leases, scope_named(sight.wanted),
                    [&](View& view) { EXPECT_EQ(paths(view.leases_at(sight.wanted)), sorted(sight.found)); });
  test.expect_reads(put_tickets, scope_named(sight.wanted), [&](View& view) {
    EXPECT_EQ(paths(view.tickets_at(sight.wanted)), sorted(sight.found));
  });
}

TEST_P(StoreContract, AFileFindsItsOwnPath) {
  expect_sight(*this, {.held = {"/src/a", "/src/b", "/src", "/src/a/x", "/"},
                       .subtree = false,
                       .wanted = {"/src/a", false},
                       .found = {"/src/a"}});
}

TEST_P(StoreContract, AFileFindsTheSubtreesAboveIt) {
  expect_sight(*this, {.held = {"/src/api/v1", "/src/api", "/src", "/", "/src/api2", "/lib", "/src/api/v1/x"},
                       .subtree = true,
                       .wanted = {"/src/api/v1", false},
                       .found = {"/src/api/v1", "/src/api", "/src", "/"}});
}

TEST_P(StoreContract, AFileDoesNotFindDirectoriesAboveItThatAreHeldAlone) {
  expect_sight(
      *this,
      {.held = {"/src/api", "/src", "/"}, .subtree = false, .wanted = {"/src/api/v1", false}, .found = {}});
}

TEST_P(StoreContract, ASubtreeFindsAllBelowItAndNoSiblingThatStartsLikeIt) {
  const Paths below = {"/src/api", "/src/api/a", "/src/api/b/c/d", "/src/api/.h", "/src/api/0"};
  const Paths beside = {"/src/api2",  "/src/api.h", "/src/api-x",   "/src/api!",
                        "/src/api 2", "/src/api0",  "/src/api0/x",  "/src/API/a",
                        "/src/ap",    "/src/apj/a", "/src/api2/a",  "/src",
                        "/",          "/x/src/api", "/src/api\n/a", "/src/api\x01/a"};
  Paths held = below;
  held.insert(held.end(), beside.begin(), beside.end());

  expect_sight(*this, {.held = held, .subtree = false, .wanted = {"/src/api", true}, .found = below});
}

TEST_P(StoreContract, ASubtreeFindsSubtreesAboveAndBelow) {
  expect_sight(*this, {.held = {"/", "/src", "/src/api", "/src/api/v1", "/src/api2", "/lib"},
                       .subtree = true,
                       .wanted = {"/src/api", true},
                       .found = {"/", "/src", "/src/api", "/src/api/v1"}});
}

TEST_P(StoreContract, TheRootAsASubtreeFindsEveryPathAndNothingElse) {
  expect_sight(*this, {.held = {"/", "/a", "/a/b", "/\xf4\x8f\xbf\xbf", "port:3000", "build:/main"},
                       .subtree = false,
                       .wanted = {"/", true},
                       .found = {"/", "/a", "/a/b", "/\xf4\x8f\xbf\xbf"}});
}

TEST_P(StoreContract, TheRootAloneFindsOnlyTheRoot) {
  expect_sight(*this,
               {.held = {"/", "/a", "port:3000"}, .subtree = false, .wanted = {"/", false}, .found = {"/"}});
}

TEST_P(StoreContract, OtherResourcesDoNotNest) {
  expect_sight(*this,
               {.held = {"port:3000", "port:3000/x", "port:3000/x/y", "port:30001", "port:", "port", "/"},
                .subtree = true,
                .wanted = {"port:3000/x", false},
                .found = {"port:3000/x"}});
}

TEST_P(StoreContract, OtherResourcesDoNotNestEvenIfASubtreeIsAskedFor) {
  expect_sight(*this, {.held = {"port:3000", "port:3000/x", "port:30001", "/port:3000/x", "/"},
                       .subtree = true,
                       .wanted = {"port:3000", true},
                       .found = {"port:3000"}});
}

// Each of these would find some other one, or not itself, if anything in it were a pattern, folded,
// normalised, trimmed or cut.
const Paths kOddNames = {"/odd/a b",        "/odd/a  b",   "/odd/a b ",   "/odd/ a b",    "/odd/a%",
                         "/odd/a%b",        "/odd/a_b",    "/odd/axb",    "/odd/a*",      "/odd/a?b",
                         "/odd/a[x]b",      "/odd/a[^x]b", "/odd/[",      "/odd/a{x}b",   "/odd/a'b",
                         "/odd/a\"b",       "/odd/a\\b",   "/odd/a\nb",   "/odd/a\r\nb",  "/odd/a\tb",
                         "/odd/a:b",        "/odd/a|b",    "/odd/a;b",    "/odd/a,b",     "/odd/a#b",
                         "/odd/a&b=c",      "/odd/$a",     "/odd/~",      "/odd/-a",      "/odd/A",
                         "/odd/a",          "/odd/\u00c4", "/odd/\u00e9", "/odd/e\u0301", "/odd/\u65e5\u672c",
                         "/odd/\u0130",     "/odd/i",      "/odd/\u00df", "/odd/ss",      "/odd/\U0001f512",
                         "/odd/\U0010ffff", "/odd/\x7f",   "/odd/\x01",   "/odd/...",     "/odd/a.",
                         "/odd/007",        "/odd/7",      "/odd/null",   "/odd/1e3"};

TEST_P(StoreContract, OddNamesFindThemselvesAndNothingElse) {
  int number = 0;
  for (const std::string& path : kOddNames) {
    ++number;
    commit([&](Transaction& transaction) {
      transaction.put(make_lease(number, path));
      transaction.put(make_ticket(number, {path}));
    });
  }

  look([&](View& view) {
    for (const std::string& path : kOddNames) {
      EXPECT_EQ(paths(view.leases_at({path, false})), Paths{path});
      EXPECT_EQ(paths(view.leases_at({path, true})), Paths{path});
      EXPECT_EQ(paths(view.tickets_at({path, true})), Paths{path});
      EXPECT_EQ(view.last_lease(ann(), path).value().path, path);
    }
  });
}

TEST_P(StoreContract, OddDirectoriesFindWhatIsBelowThemAndNothingElse) {
  int number = 0;
  for (const std::string& path : kOddNames) {
    ++number;
    commit([&](Transaction& transaction) {
      transaction.put(make_lease(number, path + "/below"));
      transaction.put(make_ticket(number, {path + "/below"}));
    });
  }

  look([&](View& view) {
    for (const std::string& path : kOddNames) {
      EXPECT_EQ(paths(view.leases_at({path, true})), Paths{path + "/below"});
      EXPECT_EQ(paths(view.tickets_at({path, true})), Paths{path + "/below"});
    }
    EXPECT_EQ(view.leases_at({"/odd", true}).size(), kOddNames.size());
    EXPECT_EQ(view.tickets_at({"/odd", true}).size(), kOddNames.size());
  });
}

TEST_P(StoreContract, OddDirectoriesAreFoundFromBelowThem) {
  int number = 0;
  for (const std::string& path : kOddNames) {
    Lease lease = make_lease(++number, path);
    lease.subtree = true;
    commit([&](Transaction& transaction) { transaction.put(lease); });
  }

  look([&](View& view) {
    for (const std::string& path : kOddNames) {
      EXPECT_EQ(paths(view.leases_at({path + "/far/below", false})), Paths{path});
    }
  });
}

TEST_P(StoreContract, ADeepPathFindsAllSubtreesAboveIt) {
  std::string path;
  Paths above = {"/"};
  for (int depth = 0; depth < 12; ++depth) above.push_back(path += "/d");

  expect_sight(*this, {.held = above, .subtree = true, .wanted = {path + "/file", false}, .found = above});
}

TEST_P(StoreContract, SeveralLeasesOnOnePathAreAllFound) {
  const auto writes = [](Transaction& transaction) {
    for (int number = 1; number <= 3; ++number) {
      Lease lease = make_lease(number, "/a", {"agent-" + std::to_string(number), ""});
      lease.mode = Mode::shared;
      lease.subtree = number == 3;
      transaction.put(lease);
    }
  };

  expect_reads(writes, scope_named({"/a", false}), [](View& view) {
    EXPECT_EQ(ids(view.leases_at({"/a", false})), lease_ids({1, 2, 3}));
    EXPECT_EQ(ids(view.leases_at({"/a", true})), lease_ids({1, 2, 3}));
    EXPECT_EQ(ids(view.leases_at({"/a/b", false})), lease_ids({3}));
  });
}

TEST_P(StoreContract, ATicketIsFoundByEachOfItsPathsAndOnlyOnce) {
  const auto writes = [](Transaction& transaction) {
    Ticket ticket = make_ticket(1, {"/src/a", "/src/b", "/lib", "port:3000"});
    ticket.request.own().paths[2].subtree = true;
    transaction.put(ticket);
    transaction.put(make_ticket(2, {"/doc/a"}));
  };

  expect_reads(writes, scope_named({"/src", true}), [](View& view) {
    for (const char* path : {"/src/a", "/src/b", "/lib", "/lib/x", "port:3000"}) {
      EXPECT_EQ(ids(view.tickets_at({path, false})), group_ids({1})) << path;
    }
    EXPECT_EQ(ids(view.tickets_at({"/src", true})), group_ids({1}));
    EXPECT_EQ(ids(view.tickets_at({"/", true})), group_ids({1, 2}));
    for (const char* path : {"/src", "/src/a/x", "/src/c", "/lib2", "port:3000/x"}) {
      EXPECT_TRUE(view.tickets_at({path, false}).empty()) << path;
    }
  });
}

TEST_P(StoreContract, ATicketThatAsksForAFileAndItsDirectoryIsFoundOnce) {
  const auto writes = [](Transaction& transaction) {
    Ticket ticket = make_ticket(1, {"/src", "/src/a", "/src"});
    ticket.request.own().paths[0].subtree = true;
    transaction.put(ticket);
  };

  expect_reads(writes, scope_named({"/src/a", false}), [](View& view) {
    EXPECT_EQ(ids(view.tickets_at({"/src/a", false})), group_ids({1}));
    EXPECT_EQ(ids(view.tickets_at({"/src", false})), group_ids({1}));
    EXPECT_EQ(ids(view.tickets_at({"/src/b", false})), group_ids({1}));
  });
}

TEST_P(StoreContract, ALineTellsInShortWhoWaitsThere) {
  Ticket upgrade = make_ticket(1, {"/src/a"}, bob());
  upgrade.upgrade = true;
  upgrade.order -= std::chrono::seconds(1);
  Ticket of_session = make_ticket(2, {"/src", "/src/a", "/lib"});
  of_session.request.own().paths[0].subtree = true;
  of_session.request.own().caller.whole_session = true;
  std::vector<Ticket> all = {upgrade, of_session, make_ticket(3, {"/src/a/x", "/src/b"}),
                             make_ticket(4, {"/src/a"})};
  const auto expect_lines = [&] {
    const auto writes = [&](Transaction& transaction) {
      for (const Ticket& ticket : all) transaction.put(ticket);
    };
    expect_reads(writes, scope_named({"/src", true}), [](View& view) {
      for (const char* path : {"/src/a", "/src/b", "/src", "/lib", "/lib/x", "/src/a/x", "/doc"}) {
        std::vector<InLine> expected;
        for (const Ticket& ticket : view.tickets_at({path, false})) expected.push_back(in_short(ticket));
        EXPECT_EQ(by_ticket(view.line_at(path)), by_ticket(expected)) << path;
      }
    });
  };

  expect_lines();

  // Each of these by itself changes nothing of where a ticket waits.
  all[0].upgrade = false;
  all[1].order += std::chrono::seconds(2);
  all[2].request.own().caller.holder.owner = bob();
  all[3].request.own().caller.whole_session = true;
  expect_lines();

  all[3].status = Status::failed;
  expect_lines();
}

TEST_P(StoreContract, AFootprintOfADirectoryServesReadsOfItsFiles) {
  commit([&](Transaction& transaction) {
    transaction.put(make_lease(1, "/src/a"));
    transaction.put(make_lease(2, "/src/b"));
  });

  const auto done = store->view(scope_named({"/src", true}), [](View& view) -> Result<void> {
    EXPECT_EQ(ids(view.leases_at({"/src/a", false})), lease_ids({1}));
    EXPECT_EQ(ids(view.leases_at({"/src/b", false})), lease_ids({2}));
    EXPECT_TRUE(view.leases_at({"/src/c", false}).empty());
    EXPECT_EQ(ids(view.leases_at({"/", true})), lease_ids({1, 2}));
    return {};
  });

  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace leasehold
