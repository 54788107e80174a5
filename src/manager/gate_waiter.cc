#include "manager/gate_waiter.h"

#include <algorithm>
#include <utility>

#include "engine/validate.h"
#include "manager/lease_manager.h"
#include "model/gate.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using SteadyTime = std::chrono::steady_clock::time_point;

// A bell may be lost with the process that was to ring it.
constexpr Duration kLookAgain = 5s;

std::optional<SteadyTime> from_now(std::optional<Duration> at_most) {
  if (!at_most) return std::nullopt;
  return std::chrono::steady_clock::now() + at_most_a_year(*at_most);
}

}  // namespace

GateWaiter::GateWaiter(LeaseManager& manager, Store& store, GateRequest request,
                       std::optional<Duration> at_most)
    : manager_(manager), store_(store), request_(std::move(request)), deadline_(from_now(at_most)) {}

void GateWaiter::look() {
  told_before_ = told_.size();
  last_ = manager_.gate(request_);
  const Result<GateAnswer>& said = *last_;
  if (*last_) std::ranges::move(std::exchange((*last_)->notices, {}), std::back_inserter(told_));
  const Denied* const denied = said ? std::get_if<Denied>(&said->decision) : nullptr;
  const SteadyTime now = std::chrono::steady_clock::now();
  if (denied == nullptr || is_final(*denied) || !deadline_ || now >= *deadline_) {
    finish();
  } else if (denied->code == Code::retry_later) {
    // Nothing that happens before changes the answer.
    bells_.clear();
    next_ = std::min(*deadline_, now + std::chrono::ceil<Duration>(denied->retry_at - said->at));
  } else if (const auto is_new = listen(*denied); !is_new) {
    answer_ = fail(is_new.error());
  } else {
    // It may have rung before anybody listened.
    next_ = *is_new ? now : std::min(*deadline_, now + kLookAgain);
  }
}

void GateWaiter::finish() {
  answer_ = last_;
  if (*answer_) (*answer_)->notices = told_;
}

// What that look was told is the store's again.
void GateWaiter::undo() {
  answer_.reset();
  told_.resize(std::min(told_before_, told_.size()));
}

GateAnswer GateWaiter::take_denial() {
  GateAnswer denial = **last_;
  denial.notices = std::exchange(told_, {});
  return denial;
}

// Whether there is a bell that was not listened to before, or not since it rang.
Result<bool> GateWaiter::listen(const Denied& denied) {
  const auto before = std::exchange(bells_, {});
  for (const Contention& one : denied.contentions) {
    auto bell = store_.listen(manager_.workspace_, {one.id});
    if (!bell) return fail(bell.error());
    bells_.emplace(one.id, *std::move(bell));
  }
  return std::ranges::any_of(bells_, [&](const auto& bell) {
    const auto known = before.find(bell.first);
    return known == before.end() || has_rung(*known->second);
  });
}

Waiter::Pause GateWaiter::pause() const {
  const auto left = std::chrono::ceil<Duration>(next_ - std::chrono::steady_clock::now());
  Waiter::Pause pause = {.fds = {}, .at_most = std::max(left, Duration::zero())};
  for (const auto& [id, bell] : bells_) pause.fds.push_back(bell->fd());
  return pause;
}

}  // namespace leasehold
