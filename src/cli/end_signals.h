#pragma once

#include <csignal>

namespace leasehold {

// Makes the signals that end a program readable instead, so that a wait can be given up in order. One that
// came does its work when this goes out of scope. To be made before threads are: they inherit what is
// blocked.
class EndSignals {
 public:
  EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  ~EndSignals();

  bool came() const;
  // Readable once one came; for poll(2), not to be read.
  int descriptor() const { return descriptor_; }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

}  // namespace leasehold
