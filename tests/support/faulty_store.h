// A store in which things go wrong when a test says so.
#pragma once

#include <atomic>

#include "support/forwarding_store.h"

namespace leasehold {

// Passes calls on to another store, with the faults that are switched on. Nothing is left to
// chance: the same calls under the same switches fail the same way. A test that wants chance draws
// it from its own seed and sets the switches.
//
// A switch that counts ("the next so many") is used up by the calls it spoils, and 0 turns it off.
// Thread-safe.
class FaultyStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  // Each body, of transact() and of view(), runs so many times in vain before the run that counts.
  // This finds out bodies that have an effect outside their transaction.
  void run_in_vain(int times) { vain_runs_ = times; }

  // The next so many commits are made, and answered with outcome_unknown.
  void lose_answers(int commits) { lost_answers_ = commits; }

  // The next so many commits never arrive, and are answered with outcome_unknown too.
  void lose_commits(int commits) { lost_commits_ = commits; }

  // Until it is switched off: no call arrives, and all are answered with unavailable.
  void be_unavailable(bool unavailable) { unavailable_ = unavailable; }
  int calls_refused() const { return calls_refused_; }

  // The next so many rings are not heard.
  void lose_rings(int rings) { rings_to_lose_ = rings; }

  Result<void> transact(const Footprint& footprint, const Body& body) override;
  Result<void> view(const Footprint& footprint, const Look& body) override;
  Result<std::unique_ptr<Bell>> listen(const std::string& workspace, const GroupId& ticket) override;

 private:
  std::unexpected<Error> not_reached();

  std::atomic<int> vain_runs_ = 0;
  std::atomic<int> lost_answers_ = 0;
  std::atomic<int> lost_commits_ = 0;
  std::atomic<bool> unavailable_ = false;
  std::atomic<int> calls_refused_ = 0;
  std::atomic<int> rings_to_lose_ = 0;
};

}  // namespace leasehold
