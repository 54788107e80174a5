#include "engine/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/explain.h"
#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/records_at.h"
#include "engine/validate.h"
#include "model/scope.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

// The caller's last lease on the path, or on a subtree above it, if this was its token.
std::optional<Lease> former_lease(View& view, const Caller& caller, const std::string& path, Token token) {
  std::vector<std::string> places = ancestors(path);
  places.insert(places.begin(), path);
  for (const std::string& place : places) {
    for (Lease& last : last_own_leases(view, caller, place)) {
      if (last.token == token && covers(last.scope(), {path, false})) return std::move(last);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<CheckAnswer> check(View& view, const Context& context, const Caller& caller, const std::string& path,
                          Token token) {
  if (auto checked = check_owner(caller.holder.owner); !checked) return fail(checked.error());
  if (auto checked = check_key(path); !checked) return fail(checked.error());
  CheckAnswer answer;
  for (Lease& lease : by_path(view.leases_at({path, false}))) {
    if (lapse(lease, view.now(), context) == EndCause::none) answer.holders.push_back(std::move(lease));
  }
  answer.current =
      std::ranges::any_of(answer.holders, [&](const Lease& lease) { return lease.token == token; });
  if (answer.current) return answer;
  const std::optional<Lease> former = former_lease(view, caller, path, token);
  if (former && former->ended_by == EndCause::transferred) {
    answer.error = refusal(Standing::transferred, path, former, EndCause::none);
  } else if (answer.holders.empty() && former) {
    answer.error = Error{Code::lost,
                         fmt::format("Nobody holds {} now: the lease with token {} is over. Acquire it again "
                                     "before you write.",
                                     in_sentence(path), token.value)};
  } else if (answer.holders.empty()) {
    answer.error =
        Error{Code::not_found, fmt::format("Nobody holds {}, and token {} was not yours for it. Acquire it "
                                           "before you write.",
                                           in_sentence(path), token.value)};
  } else {
    const Lease& holder = answer.holders.front();
    answer.error = Error{
        Code::stale_token,
        fmt::format("Token {} is not current for {}: {} holds it with token {}. Do not write; acquire it "
                    "again.",
                    token.value, in_sentence(path), describe(holder.holder), holder.token.value)};
  }
  return answer;
}

}  // namespace leasehold
