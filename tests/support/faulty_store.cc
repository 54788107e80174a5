#include "support/faulty_store.h"

namespace leasehold {
namespace {

// Uses up one of `count`; false if there is none left.
bool take_one(std::atomic<int>& count) {
  int left = count.load();
  while (left > 0) {
    if (count.compare_exchange_weak(left, left - 1)) return true;
  }
  return false;
}

std::unexpected<Error> answer_lost() {
  return fail(Code::outcome_unknown, "the answer to the commit is lost by the test");
}

std::unexpected<Error> thrown_away() {
  return fail(Code::transaction_conflict, "the run is thrown away by the test");
}

// Loses the next `rings_to_lose` rings and counts them in `lost`.
class DeafTransaction final : public ForwardingTransaction {
 public:
  DeafTransaction(Transaction& target, std::atomic<int>& rings_to_lose, int& lost)
      : ForwardingTransaction(target), rings_to_lose_(rings_to_lose), lost_(lost) {}

  void ring(const GroupId& ticket) override {
    if (take_one(rings_to_lose_)) {
      ++lost_;
    } else {
      ForwardingTransaction::ring(ticket);
    }
  }

 private:
  std::atomic<int>& rings_to_lose_;
  int& lost_;
};

}  // namespace

std::unexpected<Error> FaultyStore::not_reached() {
  ++calls_refused_;
  return fail(Code::unavailable, "the store is switched off by the test");
}

Result<void> FaultyStore::transact(const Footprint& footprint, const Body& body) {
  if (unavailable_) return not_reached();

  for (int run = 0; run < vain_runs_; ++run) {
    // Whatever comes of it, the run that counts will say so again.
    (void)ForwardingStore::transact(footprint, [&](Transaction& transaction) -> Result<void> {
      if (auto done = body(transaction); !done) return done;
      return thrown_away();
    });
  }

  // Who sees what is being committed here and then asks for answers to be lost means the next one's.
  const bool may_lose_answer = lost_answers_ > 0;
  bool commit_lost = false;
  int rings_lost = 0;
  auto done = ForwardingStore::transact(footprint, [&](Transaction& transaction) -> Result<void> {
    rings_to_lose_ += std::exchange(rings_lost, 0);  // Those of a run that came to nothing do not count.
    DeafTransaction deaf(transaction, rings_to_lose_, rings_lost);
    if (auto decided = body(deaf); !decided) return decided;
    commit_lost = take_one(lost_commits_);
    if (commit_lost) return thrown_away();
    return {};
  });
  if (!done) rings_to_lose_ += rings_lost;
  if (commit_lost) return answer_lost();
  if (done && may_lose_answer && take_one(lost_answers_)) return answer_lost();
  return done;
}

Result<void> FaultyStore::view(const Footprint& footprint, const Look& body) {
  if (unavailable_) return not_reached();

  for (int run = 0; run < vain_runs_; ++run) (void)ForwardingStore::view(footprint, body);
  return ForwardingStore::view(footprint, body);
}

Result<std::unique_ptr<Bell>> FaultyStore::listen(const std::string& workspace, const GroupId& ticket) {
  if (unavailable_) return not_reached();

  return ForwardingStore::listen(workspace, ticket);
}

}  // namespace leasehold
