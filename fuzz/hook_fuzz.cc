// Whatever an agent, or somebody in its place, writes to a hook: it is read, or refused.
#include <cstdint>

#include "hook/hook_reply.h"
#include "shell/patch_paths.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const leasehold::HookHost host : leasehold::all_hosts()) {
    const auto event = leasehold::parse_hook(host, text);
    if (event) leasehold::denial(host, event->event_name, text);
  }
  (void)leasehold::patch_paths(text);
  return 0;
}
