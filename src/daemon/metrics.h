// Figures for Prometheus. No paths, agents or ids are labels: those have no bound.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/client.h"

namespace leasehold::daemon {

// Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  void answered(std::string_view operation, int status, std::chrono::nanoseconds took);
  // `waited`: in the queue.
  void acquired(std::string_view outcome, std::chrono::nanoseconds took, Duration waited);
  void committed(std::size_t jobs, std::chrono::nanoseconds took);
  void happened(const std::vector<Event>& events);
  void swept(const Swept& swept);

  struct Standing {
    std::size_t leases = 0;
    std::size_t waiters = 0;
    std::size_t agents = 0;
    std::size_t connections = 0;
  };
  // In the text format of Prometheus.
  std::string text(const Standing& now);

 private:
  struct Families;
  const std::unique_ptr<Families> all_;
};

}  // namespace leasehold::daemon
