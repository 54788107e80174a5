#pragma once

#include <functional>
#include <vector>

#include "support/forwarding_store.h"

namespace leasehold::simulation {

// What one transaction added to the store.
struct Commit {
  std::vector<Event> events;
  std::vector<GroupId> rings;
};

// Stands right before the data and tells what was committed, as soon as it was.
class RecordingStore final : public ForwardingStore {
 public:
  using Listener = std::function<void(const Commit&, View&)>;

  RecordingStore(Store& target, Listener listener)
      : ForwardingStore(target), listener_(std::move(listener)) {}

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    Commit commit;
    auto done = ForwardingStore::transact(footprint, [&](Transaction& transaction) {
      commit = {};
      Noting noting(transaction, commit);
      return body(noting);
    });
    if (!done) return done;
    return view(footprint, [&](View& view) -> Result<void> {
      listener_(commit, view);
      return {};
    });
  }

 private:
  class Noting final : public ForwardingTransaction {
   public:
    Noting(Transaction& target, Commit& commit) : ForwardingTransaction(target), commit_(commit) {}

    void append(Event event) override {
      commit_.events.push_back(event);
      ForwardingTransaction::append(std::move(event));
    }
    void ring(const GroupId& ticket) override {
      commit_.rings.push_back(ticket);
      ForwardingTransaction::ring(ticket);
    }

   private:
    Commit& commit_;
  };

  Listener listener_;
};

}  // namespace leasehold::simulation
