// The manager at the gate.
#include "engine/gate.h"

#include <poll.h>

#include <algorithm>

#include "engine/acquire.h"
#include "engine/instruct.h"
#include "engine/release.h"
#include "engine/validate.h"
#include "manager/logging.h"
#include "manager/run.h"

namespace leasehold {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
using namespace std::chrono_literals;

// A bell may be lost with the process that was to ring it.
constexpr Duration kLookAgain = 5s;

bool is_over(const Denied& denied) {
  if (denied.code != Code::retry_later && denied.code != Code::halted) return true;
  return std::ranges::any_of(denied.contentions,
                             [](const Contention& one) { return one.state == ContentionState::abandoned; });
}

// Until one of them is readable, or `until`. True if it was `cancelled`.
bool sleep_on(std::vector<pollfd> fds, int cancelled, SteadyTime until) {
  fds.push_back({cancelled, POLLIN, 0});  // A negative one is passed over.
  const auto left = std::chrono::ceil<Duration>(until - std::chrono::steady_clock::now());
  poll(fds.data(), fds.size(), static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000)));
  return fds.back().revents != 0;
}

}  // namespace

Result<GateAnswer> LeaseManager::gate(const GateRequest& request) {
  const Footprint footprint = footprint_of(workspace_, request.wanted);
  auto seen = look<std::optional<GateAnswer>>(
      footprint, [&](View& view, const Context& context) { return gate_at_a_glance(view, context, request); },
      &request.wanted.caller);
  if (!seen) return fail(seen.error());
  if (*seen) return std::move(**seen);
  const GroupId group = new_group();
  auto answer = change<GateAnswer>(footprint, &request.wanted.caller,
                                   [&](Transaction& transaction, const Context& context) {
                                     return leasehold::gate(transaction, context, workspace_, request, group);
                                   });
  log_gate(options_.log, request.wanted, answer);
  return answer;
}

Result<GateAnswer> LeaseManager::gate_and_wait(const GateRequest& request, Duration at_most,
                                               const std::function<void(const GateAnswer&)>& denied,
                                               int cancelled) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + at_most_a_year(at_most);
  Code last = Code::busy;
  for (;;) {
    Result<GateAnswer> answer = gate(request);
    const Denied* refusal = answer ? std::get_if<Denied>(&answer->decision) : nullptr;
    if (refusal == nullptr || is_over(*refusal)) return answer;
    if (denied && refusal->code != last) denied(*answer);
    last = refusal->code;

    SteadyTime until = std::chrono::steady_clock::now();
    std::vector<std::unique_ptr<Bell>> bells;
    std::vector<pollfd> fds;
    if (refusal->code == Code::retry_later) {
      // Nothing that happens before changes the answer.
      until += std::chrono::ceil<Duration>(refusal->retry_at - answer->at);
    } else {
      until += kLookAgain;
      for (const Contention& one : refusal->contentions) {
        auto bell = store_.listen({one.id});
        if (!bell) return fail(bell.error());
        fds.push_back({(*bell)->fd(), POLLIN, 0});
        bells.push_back(std::move(*bell));
      }
    }
    if (std::chrono::steady_clock::now() >= deadline) return answer;
    if (sleep_on(std::move(fds), cancelled, std::min(until, deadline))) return answer;
  }
}

Result<Blockers> LeaseManager::blockers() {
  return look<Blockers>({.workspace = workspace_},
                        [&](View& view, const Context& context) -> Result<Blockers> {
                          return leasehold::blockers(view, context);
                        });
}

Result<Contention> LeaseManager::instruct(const InstructRequest& request) {
  const GroupId group = new_group();
  auto answer = change<Contention>(
      {.workspace = workspace_}, nullptr, [&](Transaction& transaction, const Context& context) {
        return leasehold::instruct(transaction, context, workspace_, request, group);
      });
  log_instruct(options_.log, request, answer);
  return answer;
}

Result<Outcomes> LeaseManager::end_session(const Caller& caller) {
  ReleaseRequest request = {.caller = caller};
  const Owner& owner = caller.holder.owner;
  if (owner.session_id.empty()) {
    request.which.all = true;
  } else {
    request.caller.whole_session = true;
    request.which.session_id = owner.session_id;
  }
  auto answer = change<Outcomes>({.workspace = workspace_, .owners = {owner}, .gives_back = true}, nullptr,
                                 [&](Transaction& transaction, const Context& context) -> Result<Outcomes> {
                                   auto released = leasehold::release(transaction, context, request);
                                   if (released) forget_contentions(transaction, owner);
                                   return released;
                                 });
  log_outcomes(options_.log, "released", request.caller, request.which, answer);
  return answer;
}

}  // namespace leasehold
