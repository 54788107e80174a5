#include "manager/gate_waiter.h"

#include <algorithm>

#include "engine/validate.h"
#include "manager/lease_manager.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using SteadyTime = std::chrono::steady_clock::time_point;

// A bell may be lost with the process that was to ring it.
constexpr Duration kLookAgain = 5s;

bool is_over(const Denied& denied) {
  if (denied.code != Code::retry_later && denied.code != Code::halted) return true;
  return std::ranges::any_of(denied.contentions,
                             [](const Contention& one) { return one.state == ContentionState::abandoned; });
}

std::optional<SteadyTime> from_now(std::optional<Duration> at_most) {
  if (!at_most) return std::nullopt;
  return std::chrono::steady_clock::now() + at_most_a_year(*at_most);
}

}  // namespace

GateWaiter::GateWaiter(LeaseManager& manager, Store& store, GateRequest request,
                       std::optional<Duration> at_most)
    : manager_(manager), store_(store), request_(std::move(request)), deadline_(from_now(at_most)) {}

void GateWaiter::look() {
  last_ = manager_.gate(request_);
  bells_.clear();
  const Result<GateAnswer>& said = *last_;
  const Denied* const denied = said ? std::get_if<Denied>(&said->decision) : nullptr;
  const SteadyTime now = std::chrono::steady_clock::now();
  if (denied == nullptr || is_over(*denied) || !deadline_ || now >= *deadline_) {
    answer_ = said;
  } else if (denied->code == Code::retry_later) {
    // Nothing that happens before changes the answer.
    next_ = std::min(*deadline_, now + std::chrono::ceil<Duration>(denied->retry_at - said->at));
  } else if (auto heard = listen(*denied); !heard) {
    answer_ = fail(heard.error());
  } else {
    next_ = std::min(*deadline_, now + kLookAgain);
  }
}

Result<void> GateWaiter::listen(const Denied& denied) {
  for (const Contention& one : denied.contentions) {
    auto bell = store_.listen({one.id});
    if (!bell) return fail(bell.error());
    bells_.push_back(*std::move(bell));
  }
  return {};
}

Waiter::Pause GateWaiter::pause() const {
  const auto left = std::chrono::ceil<Duration>(next_ - std::chrono::steady_clock::now());
  Waiter::Pause pause = {.fds = {}, .at_most = std::max(left, Duration::zero())};
  for (const auto& bell : bells_) pause.fds.push_back(bell->fd());
  return pause;
}

}  // namespace leasehold
