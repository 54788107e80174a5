// One question at the gate on its way to an answer, without a thread of its own: as Waiter is for an acquire.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "manager/waiter.h"

namespace leasehold {

// For one thread at a time. The manager and its store outlive it.
class GateWaiter {
 public:
  // In all it waits no longer than `at_most`; nothing: the first answer is the answer.
  GateWaiter(LeaseManager& manager, Store& store, GateRequest request, std::optional<Duration> at_most);

  // Asks, or asks again. Blocks for the store's timeout. Done once answer() is there.
  void look();

  // Forgets the last look(): what it wrote was not kept (Store::together).
  void undo();

  // Nobody waits any more: what was said last is the answer. The gate queues nobody, so nothing is left.
  void give_up() { finish(); }

  const std::optional<Result<GateAnswer>>& answer() const { return answer_; }
  // The denial because of which it waits, while there is no answer; and the same to be shown, with what was
  // told so far: no answer tells that again.
  Code code() const { return std::get<Denied>((*last_)->decision).code; }
  GateAnswer take_denial();

  // What to sleep on before the next look().
  Waiter::Pause pause() const;

 private:
  Result<bool> listen(const Denied& denied);
  void finish();

  LeaseManager& manager_;
  Store& store_;
  const GateRequest request_;
  const std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::optional<Result<GateAnswer>> last_;  // Without its notices.
  std::vector<Notice> told_;                // By all answers so far.
  std::size_t told_before_ = 0;             // By those before the last look().
  std::optional<Result<GateAnswer>> answer_;
  std::chrono::steady_clock::time_point next_;  // When to ask again.
  // Of those who are halted, by contention: an instruction rings them.
  std::map<std::string, std::unique_ptr<Bell>> bells_;
};

}  // namespace leasehold
