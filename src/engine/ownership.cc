#include "engine/ownership.h"

#include <fmt/format.h>

#include "engine/explain.h"
#include "util/check.h"
#include "util/utf8.h"

namespace leasehold {

namespace {

bool owns(const Owner& self, bool whole_session, const Owner& owner) {
  if (self == owner) return true;
  return whole_session && !self.session_id.empty() && self.session_id == owner.session_id;
}

}  // namespace

bool owns(const Caller& caller, const Owner& owner) {
  return owns(caller.holder.owner, caller.whole_session, owner);
}

bool owns(const InLine& waiter, const Owner& owner) {
  return owns(waiter.owner, waiter.whole_session, owner);
}

Standing standing(const Caller& caller, const std::optional<Lease>& lease, EndCause lapsed,
                  const std::optional<Token>& token) {
  if (!lease) return Standing::not_found;
  if (!owns(caller, lease->holder.owner)) return Standing::not_owner;
  if (lease->status == Status::pending) return Standing::own_pending;
  if (lease->status == Status::failed) return Standing::own_failed;
  if (lease->ended_by == EndCause::transferred) return Standing::transferred;
  if (lease->status != Status::active || lapsed != EndCause::none) return Standing::own_ended;
  if (token && *token != lease->token) return Standing::stale_token;
  return Standing::own_live;
}

Error refusal(Standing standing, const std::string& name, const std::optional<Lease>& lease,
              EndCause lapsed) {
  const std::string what = in_sentence(name);
  switch (standing) {
    case Standing::own_live:
      break;
    case Standing::own_pending:
      return {Code::not_found,
              fmt::format("You wait for {} and do not hold it yet. To wait no more: lease release --id {}",
                          in_sentence(lease->path), lease->id.text)};
    case Standing::own_failed:
      return {Code::not_found, fmt::format("You waited for {} and did not get it: {}. Ask for it again.",
                                           what, describe(lease->ended_by))};
    case Standing::own_ended: {
      const EndCause cause = lease->status == Status::active ? lapsed : lease->ended_by;
      return {Code::lost,
              fmt::format("Your lease on {} is over: {}. Acquire it again; somebody may have changed "
                          "the file meanwhile.",
                          what, describe(cause))};
    }
    case Standing::transferred:
      return {Code::transferred,
              fmt::format("Your lease on {} was handed to another owner. See: lease status {}", what,
                          as_argument(lease->path))};
    case Standing::stale_token:
      return {
          Code::stale_token,
          fmt::format("The token given for {} is not that of your current lease, which is {}. Nothing was "
                      "changed. See: lease status {}",
                      what, lease->token.value, as_argument(lease->path))};
    case Standing::not_owner:
      return {Code::not_owner, fmt::format("{} is leased to {}, not to you. See: lease status {}", what,
                                           describe(lease->holder), as_argument(lease->path))};
    case Standing::not_found:
      return {Code::not_found, fmt::format("There is no lease {}. See: lease status", what)};
  }
  LEASEHOLD_CHECK(false);
}

}  // namespace leasehold
