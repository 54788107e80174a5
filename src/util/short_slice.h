#pragma once

namespace leasehold {

// While it lives, this thread has the processor for a short time at once. Whoever asks for less gets it
// sooner: woken on a busy machine, it need not wait until others have used up their turns. Only since
// Linux 6.12, and only under the usual scheduling; else it changes nothing.
class ShortSlice {
 public:
  ShortSlice();
  ShortSlice(const ShortSlice&) = delete;
  ShortSlice& operator=(const ShortSlice&) = delete;
  ~ShortSlice();

 private:
  unsigned long long before_ = 0;  // Nanoseconds; 0: left alone.
};

}  // namespace leasehold
