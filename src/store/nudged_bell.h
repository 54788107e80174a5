// A bell that is rung from within this process, however that hears of the ring.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "store/store.h"
#include "util/nudge.h"

namespace leasehold {

// `Close` is called with the nudge when nobody listens any more.
template <class Close>
class NudgedBell final : public Bell {
 public:
  explicit NudgedBell(Close close) : close_(std::move(close)) {}
  ~NudgedBell() override { close_(*nudge_); }

  int fd() const override { return nudge_->fd(); }
  // Whoever shares it may give it at any time.
  const std::shared_ptr<Nudge>& nudge() { return nudge_; }

 private:
  const Close close_;
  const std::shared_ptr<Nudge> nudge_ = std::make_shared<Nudge>();
};

// Errors: unavailable.
template <class Close>
Result<std::unique_ptr<NudgedBell<Close>>> open_bell(Close close) {
  auto bell = std::make_unique<NudgedBell<Close>>(std::move(close));
  if (bell->nudge()->is_open()) return bell;
  return fail(Code::unavailable,
              fmt::format("Cannot open a bell to wait with: {}. Close some files, or ask without --wait.",
                          std::strerror(errno)));
}

}  // namespace leasehold
