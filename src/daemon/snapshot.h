// All that is held, as one Server-Sent Event that is told in pieces: as one text it would take several times
// the memory of the leases themselves.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "leasehold/client.h"

namespace leasehold::daemon {

class Snapshot {
 public:
  // `latest` is where history stood before the board was read.
  Snapshot(std::uint64_t latest, Board board) : latest_(latest), board_(std::move(board)) {}

  std::uint64_t latest() const { return latest_; }
  bool is_told() const { return is_told_; }
  // Who takes that long would have all of it kept for him.
  bool is_overdue() const;

  std::string next_piece();

 private:
  const std::uint64_t latest_;
  Board board_;
  std::size_t told_ = 0;  // Rows.
  bool is_told_ = false;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace leasehold::daemon
