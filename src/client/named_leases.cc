#include "client/named_leases.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "model/key.h"

namespace leasehold {
namespace {

template <class Request, class Call>
Result<Outcomes> in_portions(Request& request, const Call& call) {
  const std::vector<LeaseId> ids = std::exchange(request.which.ids, {});
  Outcomes all;
  std::span<const LeaseId> left = ids;
  do {
    const auto some = left.first(std::min(left.size(), kNamesMax));
    left = left.subspan(some.size());
    request.which.ids.assign(some.begin(), some.end());
    Result<Outcomes> done = call(request);
    if (!done) return done;
    std::ranges::move(done->outcomes, std::back_inserter(all.outcomes));
    std::ranges::move(done->notices, std::back_inserter(all.notices));
  } while (!left.empty());
  return all;
}

}  // namespace

Result<Outcomes> release_named(Client& client, ReleaseRequest request) {
  return in_portions(request, [&](const ReleaseRequest& some) { return client.release(some); });
}

Result<Outcomes> renew_named(Client& client, RenewRequest request) {
  return in_portions(request, [&](const RenewRequest& some) { return client.renew(some); });
}

}  // namespace leasehold
