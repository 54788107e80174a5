#pragma once

#include <utility>
#include <vector>

#include "support/forwarding_store.h"

namespace leasehold::scenario {

// Passes all on, and remembers which bells were rung by what was committed.
class RecordingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    std::vector<GroupId> rung;
    auto done = ForwardingStore::transact(footprint, [&](Transaction& transaction) {
      rung.clear();  // A body that runs again starts anew.
      Listening listening(transaction, rung);
      return body(listening);
    });
    if (done) rung_.insert(rung_.end(), rung.begin(), rung.end());
    return done;
  }

  std::vector<GroupId> take_rung() { return std::exchange(rung_, {}); }

 private:
  class Listening final : public ForwardingTransaction {
   public:
    Listening(Transaction& target, std::vector<GroupId>& rung) : ForwardingTransaction(target), rung_(rung) {}

    void ring(const GroupId& ticket) override {
      rung_.push_back(ticket);
      ForwardingTransaction::ring(ticket);
    }

   private:
    std::vector<GroupId>& rung_;
  };

  std::vector<GroupId> rung_;
};

}  // namespace leasehold::scenario
