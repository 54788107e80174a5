// Which coding agent runs us, by the variables it sets for what it starts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "util/variables.h"

namespace leasehold {

struct HostAgent {
  std::string_view name;   // claude-code, codex, ...: as in `lease hook NAME`.
  std::string session_id;  // Empty: it does not tell.
};

// Nothing: none that we know is around. `variables` is like getenv(3). An agent that was started by another
// inherits that one's variables; then the one that tells its session counts.
std::optional<HostAgent> host_agent(const Variables& variables);

}  // namespace leasehold
