#pragma once

namespace leasehold::shell {

// How much one command line may cost: commands followed, words made, names looked at. What an agent writes
// takes some hundreds; the rest is for loops. Spent in a few milliseconds.
class Budget {
 public:
  // False: it is used up.
  bool spend(long amount = 1) {
    left_ -= amount;
    return left_ > 0;
  }
  bool is_spent() const { return left_ <= 0; }

 private:
  long left_ = 20'000;
};

}  // namespace leasehold::shell
