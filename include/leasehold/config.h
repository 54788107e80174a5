// Settings as they apply, and where each comes from.
#pragma once

#include <string>

namespace leasehold {

struct EffectiveSetting {
  std::string name;         // ttl
  std::string value;        // 5m
  std::string source;       // flag, environment LEASE_TTL, FILE:LINE, store default_ttl_seconds, built-in
  std::string description;  // For people.
  bool requires_restart = false;
};

}  // namespace leasehold
