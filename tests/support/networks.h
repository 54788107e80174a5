// Networks of their own for some processes, and one for the test, which routes between them: so one can be
// cut off from the others, and everything is gone when the test ends.
#pragma once

#include <string>
#include <vector>

namespace leasehold {

// Ends the process if there can be none: these tests never skip.
class Networks {
 public:
  // This thread, and all it starts from now on, leave the network they were in.
  explicit Networks(int count);
  Networks(const Networks&) = delete;
  Networks& operator=(const Networks&) = delete;
  ~Networks();

  static std::string host(int network);  // Its address.

  // In a new process: from now on it is there.
  void enter(int network) const;

  // Between this one and the others nothing gets through; the test still reaches it.
  static void cut_off(int network);
  static void join_again(int network);

 private:
  std::vector<int> namespaces_;
};

}  // namespace leasehold
