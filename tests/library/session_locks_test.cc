// Session locks, as seed 002 describes them, on every store: how often a session may ask, how often it is
// tried, what is remembered of it, and what it gets back when it comes back.
#include <algorithm>
#include <mutex>

#include "library/library_world.h"
#include "support/faulty_store.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using Paths = std::vector<std::string>;

const Owner kAnn = {"ann", "s1"};
const Owner kMate = {"mate", "s1"};
const Owner kBob = {"bob", "s2"};

// Counts the attempts, and can be kept from remembering paths.
class Watched final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    ++transactions;
    return ForwardingStore::transact(footprint, [&](Transaction& real) -> Result<void> {
      Forgetful transaction(real);
      if (auto done = body(transaction); !done) return done;
      if (is_forgetful && transaction.was_told) return fail(Code::unavailable, "no room for it");
      return {};
    });
  }

  int transactions = 0;
  bool is_forgetful = false;

 private:
  struct Forgetful final : ForwardingTransaction {
    using ForwardingTransaction::ForwardingTransaction;
    using ForwardingTransaction::put;
    void put(const SessionPath& path) override {
      was_told = true;
      ForwardingTransaction::put(path);
    }
    bool was_told = false;
  };
};

class SessionLocks : public Library {
 protected:
  static Policy profile() {
    Policy policy = profile_named("session")->policy;
    policy.attempt_pause = 1ms;
    return policy;
  }

  void SetUp() override {
    Library::SetUp();
    if (IsSkipped()) return;
    store_ = open_store();
    manager_ = on(*store_, profile());
  }

  // Another process's manager on the same data.
  std::shared_ptr<LeaseManager> on(Store& store, const Policy& policy) {
    ManagerOptions options;
    options.log = [this](const LogRecord& record) { logged_.push_back(record); };
    return std::make_shared<LeaseManager>(Environment{probe, random}, store, kWorkspace, policy, options);
  }

  std::string ask(const Owner& owner, const char* path) {
    return word_of(manager_->acquire(asking(owner, {path})));
  }

  static std::string word_of(const Result<AcquireAnswer>& answer) {
    if (!answer) return std::string(info(answer.error().code).name);
    if (const Refused* no = refused(answer)) return std::string(info(no->code).name);
    return "granted";
  }

  Outcome give_back(const Owner& owner, const char* path, std::optional<Token> token = {}) {
    const auto answer =
        manager_->release({.caller = caller(owner), .which = {.paths = {path}}, .token = token});
    EXPECT_TRUE(answer);
    return answer ? answer->outcomes.at(0) : Outcome{};
  }

  Paths remembered(const std::string& session_id) {
    const auto found = manager_->session_paths(session_id);
    EXPECT_TRUE(found);
    Paths paths;
    if (!found) return paths;
    for (const SessionPath& path : found->paths) paths.push_back(path.path);
    return paths;
  }

  std::unique_ptr<Store> store_;
  std::shared_ptr<LeaseManager> manager_;
  std::vector<LogRecord> logged_;
};

INSTANTIATE_TEST_SUITE_P(Stores, SessionLocks, testing::ValuesIn(available_stores()), store_of);

TEST_P(SessionLocks, NeedASessionOfTheRightForm) {
  for (const char* id : {"", ".a", "a b", "a/b", "s\n"}) {
    EXPECT_EQ(ask({"ann", id}, "/a"), "invalid_session") << id;
    EXPECT_EQ(manager_->session_paths(id).error().code, Code::invalid_session) << id;
  }
  EXPECT_EQ(ask({"ann", "a._:-9"}, "/a"), "granted");
}

TEST_P(SessionLocks, LastThirtySecondsAndThreeHundredAtMost) {
  const Lease usual = granted(manager_->acquire(asking(kAnn, {"/a"})));
  AcquireRequest longer = asking(kAnn, {"/b"});
  longer.ttl = 10min;
  const auto answer = manager_->acquire(longer);

  EXPECT_EQ(usual.ttl, 30s);
  EXPECT_EQ(granted(answer).ttl, 300s);
  EXPECT_TRUE(std::get<Granted>(answer->decision).ttl_clamped);
}

TEST_P(SessionLocks, AreNotRenewedButAskedForAgain) {
  const Lease lease = granted(manager_->acquire(asking(kAnn, {"/a"})));
  clock.advance(20s);

  const auto renewed = manager_->renew({.caller = caller(kAnn), .which = by_id(lease)});
  EXPECT_EQ(renewed->outcomes.at(0).error->code, Code::max_renewals_exceeded);

  const Lease again = granted(manager_->acquire(asking(kAnn, {"/a"})));
  EXPECT_EQ(again.token, lease.token);
  clock.advance(25s);
  EXPECT_EQ(ask(kBob, "/a"), "busy") << "asking again gave it more time";
}

TEST_P(SessionLocks, AskSoOftenInAMinuteAndNoMore) {
  for (int i = 0; i < 60; ++i) ASSERT_EQ(ask(kAnn, "/a"), "granted") << i;
  clock.advance(20s);

  const auto answer = manager_->acquire(asking(kAnn, {"/b"}));

  ASSERT_EQ(word_of(answer), "rate_limited");
  EXPECT_EQ(refused(answer)->retry_after, 40s);
  EXPECT_NE(refused(answer)->message.find("Ask again in 40s"), std::string::npos);
  EXPECT_EQ(ask(kMate, "/b"), "rate_limited") << "it is the session that is counted";
  EXPECT_EQ(ask(kBob, "/b"), "granted");
  EXPECT_FALSE(give_back(kAnn, "/a").error) << "giving back is always possible";
  clock.advance(39s + 999ms);
  EXPECT_EQ(ask(kAnn, "/c"), "rate_limited");
  clock.advance(1ms);
  EXPECT_EQ(ask(kAnn, "/c"), "granted");
}

TEST_P(SessionLocks, WhoWaitsAsLongAsItIsToldMayAsk) {
  Policy limited = profile();
  limited.rate_limit = 1;
  limited.rate_window = 2990ms;
  manager_ = on(*store_, limited);
  ASSERT_EQ(ask(kAnn, "/a"), "granted");

  const auto answer = manager_->acquire(asking(kAnn, {"/b"}));
  ASSERT_EQ(word_of(answer), "rate_limited");
  EXPECT_EQ(refused(answer)->retry_after, 2990ms);
  EXPECT_NE(refused(answer)->message.find("Ask again in 3s"), std::string::npos) << refused(answer)->message;
}

TEST_P(SessionLocks, WaitNoLongerThanAWindowThatWasMadeShorter) {
  Policy limited = profile();
  limited.rate_limit = 1;
  limited.rate_window = 1h;
  manager_ = on(*store_, limited);
  ASSERT_EQ(ask(kAnn, "/a"), "granted");
  limited.rate_window = 2s;
  manager_ = on(*store_, limited);
  ASSERT_EQ(ask(kAnn, "/b"), "rate_limited");
  clock.advance(1s);
  ASSERT_EQ(ask(kAnn, "/b"), "rate_limited");
  clock.advance(1s);
  EXPECT_EQ(ask(kAnn, "/b"), "granted");
}

TEST_P(SessionLocks, CountRefusedCallsOnceAndNeitherRetriesNorPathsNorReleases) {
  Policy three = profile();
  three.rate_limit = 3;
  manager_ = on(*store_, three);
  ASSERT_EQ(ask(kBob, "/a"), "granted");

  ASSERT_EQ(ask(kAnn, "/a"), "busy");  // After three attempts.
  ASSERT_EQ(word_of(manager_->acquire(asking(kAnn, {"/b", "/c", "/d"}))), "granted");
  ASSERT_FALSE(give_back(kAnn, "/b").error);
  ASSERT_EQ(ask(kAnn, "/e"), "granted");
  EXPECT_EQ(ask(kAnn, "/f"), "rate_limited");
}

TEST_P(SessionLocks, AreCountedTogetherByAllProcesses) {
  Policy two = profile();
  two.rate_limit = 2;
  for (const char* expected : {"granted", "granted", "rate_limited"}) {
    const auto own = open_store();
    EXPECT_EQ(word_of(on(*own, two)->acquire(asking(kAnn, {"/a"}))), expected);
  }
}

TEST_P(SessionLocks, AreTriedThreeTimesWhileSomebodyIsInTheWay) {
  ASSERT_EQ(ask(kBob, "/a"), "granted");
  Watched watched(*store_);
  const auto manager = on(watched, profile());

  EXPECT_EQ(word_of(manager->acquire(asking(kAnn, {"/a"}))), "busy");

  EXPECT_EQ(watched.transactions, 3);
  EXPECT_EQ(std::ranges::count(logged_, "refused", &LogRecord::event), 1) << "it is one call";
}

TEST_P(SessionLocks, AreTriedThreeTimesWhileTheStoreIsAway) {
  FaultyStore faulty(*store_);
  const auto manager = on(faulty, profile());
  faulty.be_unavailable(true);

  EXPECT_EQ(word_of(manager->acquire(asking(kAnn, {"/a"}))), "unavailable");
  EXPECT_EQ(faulty.calls_refused(), 3);

  faulty.be_unavailable(false);
  EXPECT_EQ(word_of(manager->acquire(asking(kAnn, {"/a"}))), "granted");
}

TEST_P(SessionLocks, WhoseAnswerWasLostAreAskedForAgainOrTakenBack) {
  FaultyStore faulty(*store_);
  const auto manager = on(faulty, profile());

  faulty.lose_answers(2);
  EXPECT_EQ(word_of(manager->acquire(asking(kAnn, {"/a"}))), "granted");
  faulty.lose_answers(3);
  EXPECT_EQ(word_of(manager->acquire(asking(kAnn, {"/b"}))), "unavailable");

  EXPECT_EQ(ask(kBob, "/b"), "granted") << "what nobody knows of is in nobody's way";
  EXPECT_EQ(ask(kBob, "/a"), "busy");
  EXPECT_EQ(remembered("s1"), Paths{"/a"});
}

TEST_P(SessionLocks, OfABusyRoomAreRefusedBeforeTheStoreIsAsked) {
  FaultyStore faulty(*store_);
  const auto manager = on(faulty, profile());
  faulty.be_unavailable(true);
  manager->rooms().set_busy("design", true);
  AcquireRequest request = asking(kAnn, {"/a"});
  request.room = "design";

  EXPECT_EQ(word_of(manager->acquire(request)), "busy");

  EXPECT_EQ(faulty.calls_refused(), 0);
  EXPECT_EQ(logged_.back().event, "refused");
}

TEST_P(SessionLocks, AreRememberedUntilTheyAreGivenBack) {
  ASSERT_EQ(ask(kAnn, "/b"), "granted");
  ASSERT_EQ(ask(kAnn, "/a"), "granted");
  ASSERT_EQ(ask(kBob, "/c"), "granted");
  EXPECT_EQ(remembered("s1"), (Paths{"/a", "/b"}));

  clock.advance(5min);
  EXPECT_EQ(remembered("s1"), (Paths{"/a", "/b"})) << "they ran out, and that is what it is remembered for";
  EXPECT_TRUE(give_back(kAnn, "/a").already);
  EXPECT_EQ(remembered("s1"), Paths{"/b"});
  ASSERT_EQ(ask(kAnn, "/b"), "granted");
  EXPECT_FALSE(give_back(kAnn, "/b").already);
  EXPECT_EQ(remembered("s1"), Paths{});
  EXPECT_EQ(remembered("s2"), Paths{"/c"});
}

TEST_P(SessionLocks, OfTwoAgentsOfOneSessionStayUntilTheLastGivesBack) {
  AcquireRequest shared = asking(kAnn, {"/a"});
  shared.mode = Mode::shared;
  granted(manager_->acquire(shared));
  shared.caller = caller(kMate);
  granted(manager_->acquire(shared));

  ASSERT_FALSE(give_back(kAnn, "/a").error);
  EXPECT_EQ(remembered("s1"), Paths{"/a"});
  ASSERT_FALSE(give_back(kMate, "/a").error);
  EXPECT_EQ(remembered("s1"), Paths{});
}

TEST_P(SessionLocks, AreForgottenAfterTheLifeOfTheirHistory) {
  Policy policy = profile();
  policy.session_life = 10min;
  manager_ = on(*store_, policy);
  ASSERT_EQ(ask(kAnn, "/a"), "granted");
  clock.advance(6min);
  ASSERT_EQ(ask(kAnn, "/b"), "granted");

  clock.advance(4min);
  EXPECT_EQ(remembered("s1"), Paths{"/b"});
  ASSERT_TRUE(manager_->cleanup());
  EXPECT_EQ(remembered("s1"), Paths{"/b"});
}

TEST_P(SessionLocks, OfASessionThatEndsAreForgotten) {
  ASSERT_EQ(ask(kAnn, "/a"), "granted");
  clock.advance(5min);
  ASSERT_EQ(ask(kAnn, "/b"), "granted");

  ASSERT_TRUE(manager_->end_session(caller(kAnn)));

  EXPECT_EQ(remembered("s1"), Paths{});
}

TEST_P(SessionLocks, ThatCannotBeRememberedAreNotGranted) {
  Watched watched(*store_);
  const auto manager = on(watched, profile());
  watched.is_forgetful = true;

  EXPECT_EQ(word_of(manager->acquire(asking(kAnn, {"/a"}))), "unavailable");

  EXPECT_TRUE(manager->leases()->empty());
  EXPECT_EQ(remembered("s1"), Paths{});
  EXPECT_EQ(ask(kBob, "/a"), "granted");
}

TEST_P(SessionLocks, AreGivenBackByTokenAndAsOftenAsOneLikes) {
  const Lease lease = granted(manager_->acquire(asking(kAnn, {"/a"})));

  EXPECT_EQ(give_back(kAnn, "/a", Token{lease.token.value - 1}).error->code, Code::stale_token);
  EXPECT_EQ(remembered("s1"), Paths{"/a"});
  EXPECT_FALSE(give_back(kAnn, "/a", lease.token).already);
  EXPECT_TRUE(give_back(kAnn, "/a", lease.token).already);
}

TEST_P(SessionLocks, LogWhatFailedAndNobodyThrows) {
  FaultyStore faulty(*store_);
  const auto manager = on(faulty, profile());
  ASSERT_EQ(word_of(manager->acquire(asking(kAnn, {"/a"}))), "granted");
  faulty.be_unavailable(true);
  logged_.clear();

  const auto answer = manager->release({.caller = caller(kAnn), .which = {.paths = {"/a"}}});

  EXPECT_FALSE(answer);
  ASSERT_EQ(logged_.size(), 1U);
  EXPECT_EQ(logged_[0].level, LogLevel::warning);
  EXPECT_EQ(logged_[0].event, "failed");
  EXPECT_EQ(logged_[0].path, "/a");
  EXPECT_EQ(logged_[0].owner, kAnn);
}

TEST_P(SessionLocks, AreLoggedAndRecordedWithPathSessionAgentAndTrace) {
  AcquireRequest request = asking(kAnn, {"/a"});
  request.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  granted(manager_->acquire(request));
  give_back(kAnn, "/a");

  ASSERT_EQ(logged_.size(), 2U);
  EXPECT_EQ(logged_[0].event, "acquired");
  EXPECT_EQ(logged_[1].event, "released");
  for (const LogRecord& record : logged_) {
    EXPECT_EQ(record.path, "/a");
    EXPECT_EQ(record.owner, kAnn);
    EXPECT_EQ(record.trace, request.trace);
  }
  const auto events = manager_->history({.path = "/a"});
  ASSERT_EQ(events->size(), 2U);
  for (const Event& event : *events) {
    EXPECT_EQ(event.owner, kAnn);
    EXPECT_EQ(event.trace, request.trace);
  }
}

TEST_P(SessionLocks, AreLoggedWithTheTestsThatComeAndGoWithThem) {
  AcquireRequest request = asking(kAnn, {"/a.ts", "/a.test.ts"});
  request.paths[1].requested = false;
  request.paths[1].paired_with = {"/a.ts"};
  granted(manager_->acquire(request));

  const auto released = manager_->release({.caller = caller(kAnn), .which = {.paths = {"/a.ts"}}});

  ASSERT_TRUE(released);
  ASSERT_EQ(released->outcomes.size(), 2U);
  EXPECT_EQ(released->outcomes[1].path, "/a.test.ts");
  ASSERT_EQ(logged_.size(), 4U);
  EXPECT_EQ(logged_[2].event + logged_[2].path, "released/a.ts");
  EXPECT_EQ(logged_[3].event + logged_[3].path, "released/a.test.ts");
}

TEST_P(SessionLocks, AreRestoredOneByOneByTheUsualRules) {
  AcquireRequest folder = asking(kAnn, {"/docs"});
  folder.paths.front().subtree = true;
  folder.mode = Mode::shared;
  granted(manager_->acquire(folder));
  ASSERT_EQ(ask(kAnn, "/a"), "granted");
  ASSERT_EQ(ask(kAnn, "/b"), "granted");
  clock.advance(5min);
  ASSERT_EQ(ask(kBob, "/b"), "granted");
  AcquireRequest as;
  as.caller = caller(kAnn);
  as.trace = "trace";

  const auto restored = manager_->restore_session(as);

  ASSERT_TRUE(restored);
  ASSERT_EQ(restored->paths.size(), 3U);
  EXPECT_EQ(word_of(restored->paths[0].answer), "granted");
  EXPECT_EQ(word_of(restored->paths[1].answer), "busy");
  EXPECT_EQ(refused(restored->paths[1].answer)->blocked.at(0).holder.owner, kBob);
  const Lease docs = granted(restored->paths[2].answer);
  EXPECT_TRUE(docs.subtree);
  EXPECT_EQ(docs.mode, Mode::shared);
  EXPECT_EQ(docs.trace, "trace");
  EXPECT_TRUE(restored->invalid.empty());
  EXPECT_EQ(remembered("s1"), (Paths{"/a", "/b", "/docs"})) << "what was not given back may be had later";
}

TEST_P(SessionLocks, AreAllRestoredUnderOneIdempotencyKey) {
  ASSERT_EQ(ask(kAnn, "/a"), "granted");
  AcquireRequest folder = asking(kAnn, {"/docs"});
  folder.paths.front().subtree = true;
  granted(manager_->acquire(folder));
  clock.advance(5min);
  FaultyStore faulty(*store_);
  const auto manager = on(faulty, profile());
  AcquireRequest as;
  as.caller = caller(kAnn);
  as.idempotency_key = std::string(4096, 'k');

  faulty.lose_answers(1);
  const auto restored = manager->restore_session(as);

  ASSERT_TRUE(restored);
  ASSERT_EQ(restored->paths.size(), 2U);
  for (const RestoredPath& one : restored->paths) EXPECT_EQ(word_of(one.answer), "granted") << one.path.path;
  EXPECT_TRUE(std::get<Granted>(restored->paths[0].answer->decision).replayed) << "its first answer was lost";
}

TEST_P(SessionLocks, AreRestoredByAndByIfThereAreMoreThanCallsAreAllowed) {
  Policy policy = profile();
  policy.rate_limit = 2;
  manager_ = on(*store_, policy);
  for (const char* path : {"/a", "/b", "/c"}) {
    ASSERT_EQ(ask(kAnn, path), "granted");
    clock.advance(policy.rate_window);
  }
  clock.advance(5min);
  AcquireRequest as;
  as.caller = caller(kAnn);
  as.ttl = 5min;
  const auto restore = [&] {
    std::vector<std::string> words;
    const auto restored = manager_->restore_session(as);
    EXPECT_TRUE(restored);
    for (const RestoredPath& one : restored->paths) words.push_back(word_of(one.answer));
    return words;
  };

  EXPECT_EQ(restore(), (std::vector<std::string>{"granted", "granted", "rate_limited"}));
  clock.advance(policy.rate_window);
  EXPECT_EQ(restore(), (std::vector<std::string>{"granted", "granted", "granted"}));
}

TEST_P(SessionLocks, PassOverWhatCannotBeAPathAndSaySo) {
  ASSERT_EQ(ask(kAnn, "/a"), "granted");
  const auto written =
      store_->transact({.workspace = kWorkspace}, [&](Transaction& transaction) -> Result<void> {
        transaction.put(SessionPath{.session_id = "s1", .path = "relative/path"});
        transaction.put(SessionPath{.session_id = "s1", .path = "/x/../y"});
        return {};
      });
  ASSERT_TRUE(written);
  AcquireRequest as;
  as.caller = caller(kAnn);

  const auto restored = manager_->restore_session(as);

  ASSERT_TRUE(restored);
  ASSERT_EQ(restored->paths.size(), 1U);
  EXPECT_EQ(word_of(restored->paths[0].answer), "granted");
  ASSERT_EQ(restored->invalid.size(), 2U);
  EXPECT_NE(restored->invalid[0].find("/x/../y"), std::string::npos) << restored->invalid[0];
}

TEST_P(SessionLocks, AreOnlyRememberedUnderTheirProfile) {
  const auto agents = on(*store_, Policy{});
  ASSERT_EQ(word_of(agents->acquire(asking(kAnn, {"/a"}))), "granted");

  EXPECT_EQ(remembered("s1"), Paths{});
}

TEST_P(SessionLocks, AreForgottenWithTheSessionWhicheverProfileEndsIt) {
  ASSERT_EQ(ask(kAnn, "/a"), "granted");

  ASSERT_TRUE(on(*store_, Policy{})->end_session(caller(kAnn)));

  EXPECT_EQ(remembered("s1"), Paths{});
}

TEST_P(SessionLocks, AreRememberedByWhicheverProfileTheyWereLetGo) {
  const auto agents = on(*store_, Policy{});
  AcquireRequest waiting = asking(kAnn, {"/a"});
  waiting.wait = 1min;
  for (const bool has_key : {false, true}) {
    ASSERT_EQ(word_of(agents->acquire(asking(kBob, {"/a"}))), "granted");
    if (has_key) waiting.idempotency_key = "again";
    const auto queued = manager_->acquire(waiting);
    ASSERT_TRUE(queued && std::holds_alternative<Queued>(queued->decision));
    ASSERT_TRUE(agents->force_release({.actor = "olga", .which = {.paths = {"/a"}}, .reason = "her turn"}));

    const auto told = has_key ? manager_->acquire(waiting)
                              : manager_->poll(waiting.caller, std::get<Queued>(queued->decision).ticket);
    EXPECT_EQ(word_of(told), "granted");
    EXPECT_EQ(remembered("s1"), Paths{"/a"});
    ASSERT_FALSE(give_back(kAnn, "/a").error);
  }
}

}  // namespace
}  // namespace leasehold
