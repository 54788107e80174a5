// Connections that wait for one and the same request: whoever lost its connection asks again under its
// idempotency key, and the server may hear of the loss only later. The request is given up with the last of
// them only, and not at all once one of them was told what it got.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace leasehold::daemon {

// Belongs to the loop's thread.
class SameRequests {
 public:
  // One connection's part in it. `name`: the same for the same request; empty: nobody else asks for it.
  class Part {
   public:
    Part(SameRequests& all, std::string name) : all_(all), name_(std::move(name)) {
      std::weak_ptr<State> known = name_.empty() ? std::weak_ptr<State>() : all_.states_[name_];
      state_ = known.lock();
      if (!state_) state_ = std::make_shared<State>();
      if (!name_.empty()) all_.states_[name_] = state_;
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() {
      if (state_.use_count() == 1 && !name_.empty()) all_.states_.erase(name_);
    }

    void note_told() { state_->is_told = true; }
    bool may_give_up() const { return state_.use_count() == 1 && !state_->is_told; }

    // Who asks while another gives up is to ask anew afterwards, and not to find what is about to end.
    void begin_giving_up() { state_->is_given_up = true; }
    void end_giving_up() { state_->is_given_up = false; }
    bool is_given_up() const { return state_->is_given_up; }

   private:
    struct State {
      bool is_told = false;
      bool is_given_up = false;
    };
    friend class SameRequests;

    SameRequests& all_;
    const std::string name_;
    std::shared_ptr<State> state_;
  };

 private:
  std::map<std::string, std::weak_ptr<Part::State>> states_;
};

}  // namespace leasehold::daemon
