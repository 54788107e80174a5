#pragma once

#include <functional>
#include <string>
#include <thread>

#include "cli/output.h"

namespace leasehold {

// While somebody waits at a terminal: a line there that says for what and for how long. Wiped at the end.
class Progress {
 public:
  // `what` is asked once a second, by another thread: "Waiting for /src/a.ts, held by ann". To be made after
  // EndSignals, which have to reach the thread that waits.
  Progress(const Output& out, std::function<std::string()> what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  std::jthread thread_;  // None where nobody looks.
};

}  // namespace leasehold
