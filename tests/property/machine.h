// The real thing under test: a LeaseManager on a memory store, driven by the same steps as the model and
// answering in the same words.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/lease_manager.h"
#include "property/model.h"
#include "property/operation.h"
#include "support/manual_clock.h"

namespace leasehold::property {

class Machine {
 public:
  Machine();

  // What a step names by number: the model's tokens and tickets.
  struct Named {
    std::optional<int> token;
    std::optional<int> ticket;
  };

  // Takes the step that `model` has just taken. Returns its answer as text.
  std::string apply(const Operation& operation, const Named& named, const Model& model);

  // Records what ended, if nobody did yet.
  void catch_up();
  bool is_late() const { return late_; }

  // Who holds and who waits. Leases and tokens have the model's numbers: a new one gets that of the
  // model's lease in its place, and keeps it for ever.
  std::vector<std::string> board(const Model& model);

  // Whose bells were rung since the last call. One that rang twice is there twice.
  std::vector<int> take_woken();
  // The owners of these tickets look what became of them.
  void collect(const std::vector<int>& tickets, const Model& model);

  // What was told to an agent so far.
  const std::multiset<std::string>& notices(int agent) { return notices_[agent]; }
  std::optional<int> take_told_last() { return std::exchange(told_last_, std::nullopt); }

  // Everything that must hold whatever the model says; empty, or what does not.
  std::string broken_promise();

 private:
  class Probe final : public LivenessProbe {
   public:
    Verdict look_at(const Process& process) override;
    std::set<std::int64_t> dead;
  };
  class Seeded final : public Random {
   public:
    std::uint64_t next() override { return engine_(); }

   private:
    std::mt19937_64 engine_{1};
  };

  Caller caller(int agent, const Model& model) const;
  AcquireRequest request(const Operation& operation, const Model& model) const;
  const GroupId& ticket(int number) const { return tickets_[static_cast<std::size_t>(number)]; }
  Board look();
  void poll_again(const Operation& operation, const Model& model);
  void learn_numbers(const Board& board, const Model& model);

  std::string text(const Result<AcquireAnswer>& answer, int agent);
  std::string text(const Result<Outcomes>& answer, int agent);
  void hear(int agent, const std::vector<Notice>& notices);

  ManualClock clock_;
  Probe probe_;
  Seeded random_;
  std::unique_ptr<Store> store_;
  LeaseManager manager_;
  bool late_ = false;

  std::vector<GroupId> tickets_;
  std::map<int, std::unique_ptr<Bell>> bells_;
  std::map<Token, int> token_numbers_;
  std::map<LeaseId, int> lease_numbers_;
  Token highest_token_;
  std::string token_problem_;
  std::map<int, std::multiset<std::string>> notices_;
  std::optional<int> told_last_;
};

}  // namespace leasehold::property
