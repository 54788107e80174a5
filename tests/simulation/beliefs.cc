#include "simulation/beliefs.h"

#include <algorithm>

namespace leasehold::simulation {

void Beliefs::hold(Belief belief) {
  drop(belief.client, belief.lease);
  belief.revoked = revoked_.contains(belief.lease);
  if (weakened_.contains(belief.lease)) belief.mode = Mode::shared;
  for (const Cut& cut : cuts_) apply(cut, belief);
  beliefs_.push_back(std::move(belief));
}

void Beliefs::drop(std::size_t client, const LeaseId& lease) {
  std::erase_if(beliefs_,
                [&](const Belief& belief) { return belief.client == client && belief.lease == lease; });
}

void Beliefs::drop_path(std::size_t client, const std::string& path) {
  std::erase_if(beliefs_,
                [&](const Belief& belief) { return belief.client == client && belief.scope.path == path; });
}

void Beliefs::drop_pairs(std::size_t client) {
  std::erase_if(beliefs_, [&](const Belief& belief) { return belief.client == client && !belief.requested; });
}

void Beliefs::drop_all(std::size_t client) {
  std::erase_if(beliefs_, [&](const Belief& belief) { return belief.client == client; });
}

void Beliefs::weaken(std::size_t client, const std::string& path) {
  for (Belief& belief : beliefs_) {
    if (belief.client == client && belief.scope.path == path) belief.mode = Mode::shared;
  }
}

void Beliefs::change_mode(const LeaseId& lease, Mode mode) {
  if (mode == Mode::exclusive) {
    weakened_.erase(lease);  // Whoever asked for it will be told.
    return;
  }
  weakened_.insert(lease);
  for (Belief& belief : beliefs_) {
    if (belief.lease == lease) belief.mode = Mode::shared;
  }
}

void Beliefs::cut(const Cut& cut) {
  cuts_.push_back(cut);
  for (Belief& belief : beliefs_) apply(cut, belief);
}

void Beliefs::apply(const Cut& cut, Belief& belief) {
  if (belief.owner != cut.owner || belief.since > cut.at) return;
  if (!cut.only.text.empty() && cut.only != belief.lease) return;
  belief.deadline = std::min(belief.deadline, cut.deadline);
}

void Beliefs::revoke(const LeaseId& lease) {
  revoked_.insert(lease);
  for (Belief& belief : beliefs_) belief.revoked |= belief.lease == lease;
}

std::vector<Belief> Beliefs::of(std::size_t client) const {
  std::vector<Belief> found;
  std::ranges::copy_if(beliefs_, std::back_inserter(found),
                       [&](const Belief& belief) { return belief.client == client; });
  return found;
}

std::vector<Belief> Beliefs::of_lease(const LeaseId& lease) const {
  std::vector<Belief> found;
  std::ranges::copy_if(beliefs_, std::back_inserter(found),
                       [&](const Belief& belief) { return belief.lease == lease; });
  return found;
}

}  // namespace leasehold::simulation
