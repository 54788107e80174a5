#include "simulation/buggy_store.h"

#include <algorithm>

namespace leasehold::simulation {
namespace {

class BuggyTransaction final : public ForwardingTransaction {
 public:
  BuggyTransaction(Transaction& target, PlantedBug bug, std::uint64_t& counter, bool hides_queue)
      : ForwardingTransaction(target), bug_(bug), counter_(counter), hides_queue_(hides_queue) {}

  Token next_token() override {
    return bug_ == PlantedBug::token_from_volatile_counter ? Token{++counter_}
                                                           : ForwardingTransaction::next_token();
  }

  std::vector<Ticket> tickets_at(const std::vector<Scope>& scopes) override {
    return hides_queue_ ? std::vector<Ticket>() : ForwardingTransaction::tickets_at(scopes);
  }

  std::vector<InLine> line_at(const std::string& path) override {
    return hides_queue_ ? std::vector<InLine>() : ForwardingTransaction::line_at(path);
  }

  std::optional<Contention> contention(const Owner& owner, const std::string& path) override {
    if (bug_ == PlantedBug::gate_forgets_its_retry) return std::nullopt;
    return ForwardingTransaction::contention(owner, path);
  }

  // Whether there is any still shows: else waits would be judged wrongly, too.
  std::size_t lease_count(const Owner& owner) override {
    const std::size_t count = ForwardingTransaction::lease_count(owner);
    return bug_ == PlantedBug::leases_not_counted ? std::min<std::size_t>(count, 1) : count;
  }

  using ForwardingTransaction::put;
  void put(const Answer& answer) override {
    if (bug_ != PlantedBug::answers_not_kept) ForwardingTransaction::put(answer);
  }

  // The second lease of a grant, and its line of history, do not reach the store.
  void put(const Lease& lease) override {
    const bool is_granted_now = lease.status == Status::active && lease.acquired_at == now();
    if (bug_ == PlantedBug::torn_commit && is_granted_now && ++granted_ == 2) torn_ = lease.id;
    if (torn_ != lease.id) ForwardingTransaction::put(lease);
  }
  void append(Event event) override {
    if (event.lease_id.text.empty() || torn_ != event.lease_id)
      ForwardingTransaction::append(std::move(event));
  }

  void ring(const GroupId& ticket) override {
    rings_.push_back(ticket);
    if (bug_ != PlantedBug::notify_before_commit) ForwardingTransaction::ring(ticket);
  }

  const std::vector<GroupId>& rings() const { return rings_; }

 private:
  const PlantedBug bug_;
  std::uint64_t& counter_;
  const bool hides_queue_;
  int granted_ = 0;
  LeaseId torn_;
  std::vector<GroupId> rings_;
};

}  // namespace

Result<void> BuggyStore::transact(const Footprint& footprint, const Body& body) {
  if (bug_ == PlantedBug::notify_before_commit && !is_ringing_) ring_early(footprint, body);
  return ForwardingStore::transact(footprint, [&](Transaction& transaction) {
    BuggyTransaction buggy(transaction, bug_, counter_, hides_queue_);
    return body(buggy);
  });
}

// Runs the body to learn whom it would ring, takes everything back, and rings.
void BuggyStore::ring_early(const Footprint& footprint, const Body& body) {
  std::vector<GroupId> rings;
  (void)ForwardingStore::transact(footprint, [&](Transaction& transaction) -> Result<void> {
    BuggyTransaction buggy(transaction, bug_, counter_, hides_queue_);
    if (auto done = body(buggy); done) rings = buggy.rings();
    return fail(Code::unavailable, "only to see");
  });
  is_ringing_ = true;
  for (const GroupId& ticket : rings) wake_(ticket);
  is_ringing_ = false;
}

}  // namespace leasehold::simulation
