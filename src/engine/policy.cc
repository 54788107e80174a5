#include "engine/policy.h"

#include <fmt/format.h>

#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

Policy session_policy() {
  Policy policy;
  policy.ttl = 30s;
  policy.ttl_max = 300s;
  policy.rate_limit = 60;
  policy.max_renewals = 0;  // Whoever needs more time asks again.
  policy.session_locks = true;
  policy.attempts = 3;
  return policy;
}

Policy job_policy() {
  Policy policy;
  policy.ttl = 1h;
  policy.ttl_max = 24h;
  policy.wait_max = 30s;
  return policy;
}

}  // namespace

Result<Profile> profile_named(std::string_view name) {
  if (name == "agent") return Profile{"agent", Policy{}};
  if (name == "session") return Profile{"session", session_policy()};
  if (name == "job") return Profile{"job", job_policy()};
  return fail(Code::invalid_argument,
              fmt::format("There is no profile {}. Choose agent, session or job.", in_quotes(name)));
}

}  // namespace leasehold
