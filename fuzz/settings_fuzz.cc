// Whatever stands in an agent's settings or in a hook's script: ours goes in and comes out, and the rest
// stays.
#include <cstdint>

#include "init/codex_toml.h"
#include "init/hook_settings.h"
#include "init/marked_block.h"

namespace {

using leasehold::FileText;

void check(bool holds) {
  if (!holds) __builtin_trap();
}

// A text may hold something of ours already, which is not there afterwards.
void put_in_and_take_out(const std::string& text, leasehold::HookHost host) {
  const auto groups = leasehold::hook_groups(host, {});
  const auto bare = leasehold::without_groups(text, host);
  const auto with = leasehold::with_groups(text, host, groups);
  check(bare.has_value() == with.has_value());
  if (!with) return;
  check(leasehold::has_groups(*with, host, groups));
  const auto again = leasehold::with_groups(*with, host, groups);
  check(again && *again == *with);
  const bool was_complete = leasehold::has_groups(text, host, groups);
  const auto back = leasehold::without_groups(*with, host);
  check(back && (was_complete || *back == *bare));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const leasehold::HookHost host : leasehold::all_hosts()) put_in_and_take_out(text, host);
  // Of several blocks, one is taken out at a time.
  if (!text.contains("leasehold")) {
    check(leasehold::without_block(leasehold::with_block_at_end(text, "x\n")) == text);
    check(leasehold::without_block(leasehold::with_block_behind_first_line(text, "x\n")) == text);
  }
  return 0;
}
