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

// `Close` is called with the nudge before that goes: nobody may give it afterwards.
template <class Close>
class NudgedBell final : public Bell {
 public:
  explicit NudgedBell(Close close) : close_(std::move(close)) {}
  ~NudgedBell() override { close_(nudge_); }

  int fd() const override { return nudge_.fd(); }
  Nudge& nudge() { return nudge_; }

 private:
  const Close close_;
  Nudge nudge_;
};

// Errors: unavailable.
template <class Close>
Result<std::unique_ptr<NudgedBell<Close>>> open_bell(Close close) {
  auto bell = std::make_unique<NudgedBell<Close>>(std::move(close));
  if (bell->nudge().is_open()) return bell;
  return fail(Code::unavailable,
              fmt::format("Cannot open a bell to wait with: {}. Close some files, or ask without --wait.",
                          std::strerror(errno)));
}

}  // namespace leasehold
