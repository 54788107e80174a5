// Git configuration from any bytes, and any URL in it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "workspace/git_config.h"
#include "workspace/origin_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto url = git_config_value(text, {.section = "remote", .subsection = "origin", .key = "url"})) {
    (void)normalised_origin(*url);
  }
  (void)normalised_origin(text);
  return 0;
}
